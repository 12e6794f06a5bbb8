/** The style sheet of the inspector. A host themes it by the custom properties that begin with `--pawl-`. */
const light = `
  --pawl-paper: #f7f6f3; --pawl-panel: #ffffff; --pawl-ink: #201d26; --pawl-soft: #645f6e; --pawl-faint: #a49fae;
  --pawl-line: #e5e2dd; --pawl-hover: #f1eff5; --pawl-accent: #5b3fd6; --pawl-tint: #ece8fb;
  --pawl-run: #2a63d4; --pawl-step: #5b3fd6; --pawl-wait: #9a6200; --pawl-good: #17724a; --pawl-bad: #c02b3c;
  --pawl-calm: #6e6a78; --pawl-long: #0b7285;`;
const dark = `
  --pawl-paper: #131217; --pawl-panel: #1b1a21; --pawl-ink: #efedf4; --pawl-soft: #a9a4b6; --pawl-faint: #6f6a7c;
  --pawl-line: #302e39; --pawl-hover: #262430; --pawl-accent: #a794ff; --pawl-tint: #2b2645;
  --pawl-run: #7aa7ff; --pawl-step: #a794ff; --pawl-wait: #e3ab4d; --pawl-good: #5cc795; --pawl-bad: #ff8590;
  --pawl-calm: #98939f; --pawl-long: #58c4d8;`;

const frame = `
:host { display: block; min-height: 420px; color-scheme: light dark;
  --pawl-font: ui-sans-serif, system-ui, sans-serif; --pawl-mono: ui-monospace, "SF Mono", Menlo, monospace; ${light} }
@media (prefers-color-scheme: dark) { :host { ${dark} } }
:host([theme="light"]) { color-scheme: light; ${light} }
:host([theme="dark"]) { color-scheme: dark; ${dark} }
*, *::before { box-sizing: border-box; }
[hidden] { display: none !important; }
.inspector { height: 100%; display: flex; flex-direction: column; background: var(--pawl-panel); color: var(--pawl-ink);
  font: 13px/1.5 var(--pawl-font); overflow: hidden; outline: none; }
h2, h3, p, ul { margin: 0; padding: 0; }
ul { list-style: none; }
code, pre, textarea, .number, .type, time, kbd { font-family: var(--pawl-mono); font-size: 12px; }
button, select, input, .open { font: inherit; color: inherit; background: var(--pawl-panel);
  border: 1px solid var(--pawl-line); border-radius: 7px; padding: 4px 10px; min-height: 30px; }
button, .open { cursor: pointer; white-space: nowrap; }
button:disabled { color: var(--pawl-faint); cursor: default; }
button:not(:disabled):hover, .open:hover { background: var(--pawl-hover); }
button.primary, button.primary:not(:disabled):hover { background: var(--pawl-accent); border-color: var(--pawl-accent); color: var(--pawl-panel); font-weight: 600; }
button.primary:not(:disabled):hover { filter: brightness(1.12); }
:focus-visible, .open:focus-within { outline: 2px solid var(--pawl-accent); outline-offset: 1px; }
.head { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; padding: 12px 14px; }
.names { flex: 1 1 160px; min-width: 0; }
.scope { font-size: 14px; font-weight: 650; letter-spacing: -0.01em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.status { color: var(--pawl-soft); font-size: 12px; font-variant-numeric: tabular-nums; }
.tools { display: flex; flex-wrap: wrap; gap: 6px; }
.tools input[type="search"] { width: 176px; } .tools select { width: 112px; }
.open { position: relative; display: inline-flex; align-items: center; }
.file { position: absolute; inset: 0; opacity: 0; width: 100%; min-height: 0; padding: 0; cursor: pointer; }
.alarm { margin: 0 14px 10px; padding: 8px 12px; border-radius: 8px; color: var(--pawl-bad);
  border: 1px solid var(--pawl-bad); max-height: 6em; overflow: auto; white-space: pre-wrap; }
.asked { margin: 0 14px 10px; padding: 10px 12px; border-radius: 8px; background: var(--pawl-tint); display: flex;
  flex-wrap: wrap; gap: 8px 16px; align-items: center; } .asked p { flex: 1 1 260px; overflow-wrap: anywhere; }
.help { display: grid; grid-template-columns: repeat(auto-fill, minmax(230px, 1fr)); gap: 4px 16px; padding: 10px 14px;
  background: var(--pawl-tint); }
kbd { padding: 0 5px; border: 1px solid var(--pawl-line); border-radius: 4px; background: var(--pawl-panel); }
`;

const time = `
.timeline { contain: strict; position: relative; flex: 1 1 38%; min-height: 132px; overflow: hidden; border-top: 1px solid var(--pawl-line); background: var(--pawl-paper); }
.beside { flex: 1 1 30%; min-height: 136px; display: flex; flex-direction: column; overflow: hidden; background: var(--pawl-tint); }
.beside h3 { font-size: 12px; font-weight: 600; padding: 6px 14px 0; }
.beside-event { flex: none; padding: 0 14px; color: var(--pawl-soft); font-size: 12px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
canvas { position: absolute; inset: 0; display: block; width: 100%; height: 100%; touch-action: pan-y; cursor: crosshair; }
.empty { position: absolute; top: 50%; left: 50%; translate: -50% -50%; width: max-content; max-width: calc(100% - 24px); padding: 6px 14px; border-radius: 8px; background: var(--pawl-paper); text-align: center; text-wrap: balance; color: var(--pawl-soft); pointer-events: none; }
.beside .room { position: relative; flex: 1; }
.transport { display: flex; align-items: center; gap: 4px; padding: 8px 14px; border-block: 1px solid var(--pawl-line); }
button svg { display: block; width: 14px; height: 14px; margin: auto; fill: currentColor; }
.narrow .transport { flex-wrap: wrap; } .narrow .rail { order: -1; flex: 1 0 100%; margin: 0; }
.narrow .place { margin-left: auto; }
.transport button { width: 32px; flex: none; padding: 0; border-color: transparent; font-size: 11px; }
.transport .play { background: var(--pawl-accent); color: var(--pawl-panel); border-radius: 50%; }
.transport .trouble { width: auto; margin-left: 8px; padding: 0 10px; color: var(--pawl-bad); border-color: var(--pawl-line); font-size: 12px; }
.rail { position: relative; flex: 1; min-width: 60px; margin: 0 8px; display: flex; align-items: center; }
.rail input { width: 100%; margin: 0; padding: 0; border: 0; background: none; appearance: none; min-height: 24px; cursor: pointer; }
.rail input::-webkit-slider-runnable-track { height: 4px; border-radius: 2px; background: linear-gradient(var(--pawl-accent) 0 0) 0 0 / calc(7px + (100% - 14px) * var(--at, 0)) 100% no-repeat var(--pawl-line); }
.rail input::-webkit-slider-thumb { appearance: none; width: 14px; height: 14px; margin-top: -5px; border-radius: 50%; background: var(--pawl-accent); }
.rail input::-moz-range-track { height: 4px; border-radius: 2px; background: var(--pawl-line); }
.rail input::-moz-range-progress { height: 4px; border-radius: 2px; background: var(--pawl-accent); }
.rail input::-moz-range-thumb { width: 14px; height: 14px; border: 0; border-radius: 50%; background: var(--pawl-accent); }
.ticks { position: absolute; inset: 0 8px; pointer-events: none; }
.ticks i { position: absolute; top: 2px; bottom: 2px; width: 2px; border-radius: 1px; background: var(--pawl-bad); }
.place { contain: content; font-variant-numeric: tabular-nums; color: var(--pawl-soft); min-width: 62px; text-align: right; }
`;

const pane = `
.panes { flex: 1 1 62%; min-height: 0; display: grid; grid-template: auto minmax(0, 1fr) / 290px minmax(0, 1fr); }
.tabs { grid-area: 1 / 2; display: flex; gap: 2px; padding: 6px 12px 0; border-bottom: 1px solid var(--pawl-line); }
.tabs button { border: 0; border-radius: 6px 6px 0 0; color: var(--pawl-soft); border-bottom: 2px solid transparent; }
.tabs button[aria-selected="true"] { color: var(--pawl-ink); font-weight: 600; border-color: var(--pawl-accent); }
.pane { contain: content; grid-area: 2 / 2; display: none; overflow: auto; padding: 14px 16px 24px; outline-offset: -2px; }
.pane.here { display: block; }
#tab-log { display: none; }
#pane-log { grid-area: 1 / 1 / 3; display: block; padding: 0; border-right: 1px solid var(--pawl-line); overflow: hidden; }
.narrow .panes { grid-template-columns: minmax(0, 1fr); }
.narrow .tabs { grid-area: 1 / 1; } .narrow .pane { grid-area: 2 / 1; }
.narrow #tab-log { display: block; }
.narrow #pane-log { grid-area: 2 / 1; border: 0; display: none; } .narrow #pane-log.here { display: block; }
.narrow .tabs button { padding-inline: 8px; flex: 1; }
.narrow .tools { width: 100%; flex-wrap: nowrap; } .narrow .tools select { width: auto; min-width: 0; flex: 1; } .narrow .tools input[type="search"] { flex: 1; min-width: 90px; width: auto; }
.events { contain: strict; position: relative; height: 100%; overflow: auto; outline-offset: -2px; }
.event { contain: strict; position: absolute; inset: 0 0 auto; height: 44px; padding: 4px 12px 4px 30px; cursor: pointer;
  display: grid; grid-template-columns: auto 1fr auto; column-gap: 8px; }
.event:hover { background: var(--pawl-hover); }
.event[aria-selected="true"] { background: var(--pawl-tint); box-shadow: inset 3px 0 var(--pawl-accent); }
.event .dot { position: absolute; left: 13px; top: 11px; }
.dot { width: 8px; height: 8px; border-radius: 50%; background: var(--pawl-calm); }
.dot.scope { background: var(--pawl-ink); } .dot.request { background: var(--pawl-accent); } .dot.call { background: var(--pawl-run); }
.dot.effect { background: var(--pawl-step); } .dot.wait, .dot.approval { background: var(--pawl-wait); }
.dot.process, .dot.message, .dot.long { background: var(--pawl-long); }
.number, time { color: var(--pawl-soft); font-size: 11px; line-height: 20px; font-variant-numeric: tabular-nums; }
.event .type { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.gist { grid-column: 1 / 4; color: var(--pawl-soft); font-size: 12px; line-height: 16px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
`;

const detail = `
.event-head h2 { font: 600 15px/1.4 var(--pawl-mono); } .event-head p { color: var(--pawl-soft); font-size: 12px; } .event-head .gist-line { margin-top: 4px; color: inherit; font-size: 13px; overflow-wrap: anywhere; }
.block { margin-top: 18px; } .block h3 { font-size: 12px; font-weight: 650; margin-bottom: 6px; }
.count { margin-left: 6px; padding: 0 6px; border-radius: 9px; background: var(--pawl-hover); color: var(--pawl-soft); font-size: 11px; font-weight: 500; }
.nothing, .duty, .hint { color: var(--pawl-soft); } .duty, .hint { font-size: 12px; }
.command, .change, .waiting { padding: 8px 0 8px 12px; border-left: 2px solid var(--pawl-line); margin-bottom: 6px; }
.command { border-color: var(--pawl-accent); } .command .type { color: var(--pawl-accent); }
.waiting { border-color: var(--pawl-wait); } .change.new { border-color: var(--pawl-good); } .change.gone { border-color: var(--pawl-bad); }
.verb { color: var(--pawl-soft); font-size: 12px; }
.change code { overflow-wrap: anywhere; }
.difference { display: flex; flex-wrap: wrap; gap: 2px 8px; font-size: 12px; }
.difference del, .difference ins { font-family: var(--pawl-mono); overflow-wrap: anywhere; text-decoration-thickness: 1px; }
.difference del { color: var(--pawl-bad); } .difference ins { color: var(--pawl-good); text-decoration: none; } .difference del + ins::before { content: "→ "; color: var(--pawl-soft); }
.line { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; padding: 10px 12px; border-radius: 8px; background: var(--pawl-paper); border: 1px solid var(--pawl-line); line-height: 1.5; }
details { padding-left: 14px; } summary { margin-left: -14px; cursor: pointer; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; border-radius: 4px; }
summary::marker { color: var(--pawl-faint); font-size: 10px; }
summary b, .leaf b { font: 500 12px var(--pawl-mono); } summary i, .leaf i { font: 12px var(--pawl-mono); color: var(--pawl-soft); }
.leaf { overflow-wrap: anywhere; } .leaf i.string { color: var(--pawl-good); } .leaf i.number { color: var(--pawl-run); } .leaf i.boolean { color: var(--pawl-wait); }
details[open] > summary > i { display: none; }
.table { border-bottom: 1px solid var(--pawl-line); padding-block: 6px; } .table > summary b { font: 650 13px var(--pawl-font); }
span.fresh { margin-left: 8px; color: var(--pawl-accent); font-size: 12px; } .pane details.fresh, .leaf.fresh { background: var(--pawl-tint); border-radius: 6px; }
textarea { width: 100%; margin: 12px 0; padding: 10px 12px; border-radius: 8px; border: 1px solid var(--pawl-line); background: var(--pawl-paper); color: inherit; resize: vertical; line-height: 1.5; }
.fork h2 { font-size: 15px; } .actions { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }
.more { color: var(--pawl-soft); font-size: 12px; }
@media (prefers-reduced-motion: no-preference) { .event { transition: background-color 120ms; } button { transition: background-color 120ms; } }
`;

let shared: CSSStyleSheet | undefined;

/** Returns the sheet that all inspectors of a page share. */
export const styleSheet = (): CSSStyleSheet => {
  if (shared === undefined) {
    shared = new CSSStyleSheet();
    shared.replaceSync(frame + time + pane + detail);
  }
  return shared;
};
