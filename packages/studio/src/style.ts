/** The style sheet of the page: the look of the demo, light and dark, down to the width of a phone. */
export const style = `
:root { color-scheme: light dark;
  --font: "Instrument Sans Variable", "Instrument Sans", ui-sans-serif, system-ui, sans-serif;
  --mono: "JetBrains Mono Variable", "JetBrains Mono", ui-monospace, Menlo, monospace;
  --paper: light-dark(#f7f6f3, #131217); --panel: light-dark(#ffffff, #1b1a21);
  --ink: light-dark(#201d26, #efedf4); --soft: light-dark(#645f6e, #a9a4b6); --line: light-dark(#e5e2dd, #302e39);
  --edge: light-dark(#8a8494, #7c7789); --hover: light-dark(#f1eff5, #262430);
  --accent: light-dark(#5b3fd6, #a794ff); --on-accent: light-dark(#ffffff, #17151f);
  --tint: light-dark(#ece8fb, #2b2645); --good: light-dark(#17724a, #5cc795);
  --good-tint: light-dark(#e3f3ea, #17302a); --bad: light-dark(#c02b3c, #ff8590);
  --bad-tint: light-dark(#fbe9ea, #3a2027); --wait: light-dark(#8a5800, #e3ab4d);
  --wait-tint: light-dark(#fbf0dc, #352a18); }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; min-height: 100dvh; background: var(--paper); color: var(--ink); font: 15px/1.55 var(--font);
  -webkit-font-smoothing: antialiased; }
h1, h2, h3, p, ul, dl, dd, pre { margin: 0; padding: 0; }
ul { list-style: none; }
h1 { font-size: 27px; line-height: 1.15; font-weight: 620; letter-spacing: -0.03em; overflow-wrap: anywhere; }
h2, h3 { font-size: 16px; font-weight: 620; letter-spacing: -0.01em; overflow-wrap: anywhere; }
code, pre, .code { font-family: var(--mono); font-size: 12.5px; font-variant-ligatures: none; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 40vh; overflow: auto; }
a { color: inherit; text-decoration: none; }
.link { color: var(--accent); text-decoration: underline; text-underline-offset: 3px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 6px; }
.soft, .hint, time { color: var(--soft); font-size: 13px; }
/* Each meaning has one tone: for text and for backgrounds. */
.fine { --tone: var(--good); --tone-tint: var(--good-tint); }
.failed { --tone: var(--bad); --tone-tint: var(--bad-tint); }
.asks { --tone: var(--wait); --tone-tint: var(--wait-tint); }
.running { --tone: var(--accent); --tone-tint: var(--tint); }
.calm { --tone: var(--soft); --tone-tint: var(--hover); }
.asks, .problem { color: var(--tone, var(--bad)); font-size: 13px; }
.problem:empty { display: none; }
.status, .tag { display: inline-block; padding: 1px 9px; border-radius: 99px;
  background: var(--tone-tint, var(--hover)); color: var(--tone, var(--soft)); font-size: 13px; white-space: nowrap; }
.tag { border: 1px solid var(--line); background: none; }
.bar { position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: 18px; min-height: 58px;
  padding: 0 22px; background: var(--panel); border-bottom: 1px solid var(--line); }
.mark { display: flex; align-items: center; gap: 9px; font-size: 18px; font-weight: 650; letter-spacing: -0.03em; }
.bar nav { display: flex; gap: 2px; align-self: stretch; }
.bar nav a { display: flex; align-items: center; padding: 0 12px; border-bottom: 2px solid transparent;
  color: var(--soft); }
.bar nav a:hover { color: var(--ink); }
.bar nav a[aria-current] { border-color: var(--accent); color: var(--ink); font-weight: 600; }
.who { display: flex; align-items: center; gap: 6px; margin-left: auto; min-width: 0; }
.who .soft { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.gone { padding: 8px 22px; background: var(--wait-tint); color: var(--wait); }
.said { position: fixed; inset: auto 0 16px; width: max-content; max-width: calc(100% - 32px); margin: 0 auto;
  padding: 8px 16px; border-radius: 9px; background: var(--tone-tint); color: var(--tone);
  box-shadow: 0 4px 20px rgb(0 0 0 / 16%); }
.said:empty { display: none; }
main { display: grid; gap: 16px; max-width: 860px; margin: 0 auto; padding: 26px 22px 90px; }
button { font: 550 14px/1 var(--font); color: var(--ink); background: var(--panel); border: 1px solid var(--line);
  border-radius: 9px; padding: 0 15px; min-height: 38px; cursor: pointer; }
button:hover { background: var(--hover); }
button:disabled { opacity: 0.5; cursor: default; }
button.primary, button.danger { background: var(--fill); border-color: var(--fill); color: var(--on-accent); }
button.primary { --fill: var(--accent); }
button.danger { --fill: var(--bad); }
button:is(.primary, .danger):hover:enabled { background: color-mix(in oklab, var(--fill) 88%, var(--ink)); }
button.quiet { border-color: transparent; background: none; color: var(--soft); }
button.quiet:hover { background: var(--hover); color: var(--ink); }
input, textarea, select { width: 100%; font: inherit; color: inherit; background: var(--panel);
  border: 1px solid var(--edge); border-radius: 9px; padding: 8px 11px; min-height: 38px; }
textarea { resize: vertical; }
input[type="checkbox"] { width: 20px; min-height: 20px; accent-color: var(--accent); }
textarea.code { font: 12.5px/1.5 var(--mono); }
kbd { padding: 0 5px; border: 1px solid var(--line); border-radius: 4px; background: var(--panel);
  font-family: var(--mono); font-size: 12px; }
.cards, .calls, .runs, .requests, .fields, .field { display: grid; gap: 12px; }
.field { gap: 4px; justify-items: start; }
.field label { font-size: 13px; font-weight: 600; }
.card, .call, .request, .login { display: grid; gap: 12px; padding: 16px 18px; background: var(--panel);
  border: 1px solid var(--line); border-radius: 13px; }
.card { border-left: 3px solid var(--wait); }
.card:focus { outline: 2px solid var(--accent); outline-offset: 2px; }
.card header, .call header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 12px; }
.place { color: var(--accent); text-decoration: underline; text-underline-offset: 3px; overflow-wrap: anywhere; }
.card-body { display: grid; gap: 12px; }
.actions, .filters, .foot, .tags { display: flex; flex-wrap: wrap; gap: 8px; }
.actions:empty, .tags:empty, .foot:empty { display: none; }
.args { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 18px; }
.args dt { color: var(--soft); }
.args dd { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 40vh; overflow: auto; }
.value { padding: 10px 12px; border-radius: 9px; background: var(--paper); }
.empty { padding: 40px 0; text-align: center; color: var(--soft); }
.filters button { min-height: 34px; padding: 0 12px; font-size: 13px; }
.filters button[aria-pressed="true"] { border-color: var(--accent); background: var(--tint); color: var(--accent); }
.runs { gap: 0; background: var(--panel); border: 1px solid var(--line); border-radius: 13px; overflow: hidden; }
.run + .run { border-top: 1px solid var(--line); }
.run a { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; padding: 11px 18px; }
.run a:hover { background: var(--hover); }
.run a:focus-visible { outline-offset: -3px; }
.name { font-weight: 600; overflow-wrap: anywhere; }
.run time { margin-left: auto; }
.request { padding: 0; }
.request summary { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; padding: 12px 18px;
  cursor: pointer; }
.request summary .soft { margin-left: auto; }
.request-body { display: grid; gap: 12px; padding: 0 18px 16px; }
.call > button, .request-body > button { justify-self: start; }
.request .call { padding: 12px 14px; border-radius: 9px; }
.effects { padding-left: 18px; list-style: disc; color: var(--soft); }
.login { width: min(420px, 100%); margin: 10vh auto 0; }
@media (width < 560px) { .bar { gap: 10px; padding: 0 14px; } .mark { font-size: 0; }
  .who .soft, .keys { display: none; } main { padding: 18px 14px 90px; } .card, .call { padding: 14px; }
  .args { grid-template-columns: minmax(0, 1fr); gap: 0; } .args dd + dt { margin-top: 8px; }
  .actions button { flex: 1 1 auto; min-height: 46px; } .run time { margin-left: 0; } }
@media (prefers-reduced-motion: no-preference) { button { transition: background 120ms; } }
`;
