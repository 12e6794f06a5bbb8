/** Studio: its login, its pages by the address behind `#`, and whether its host answers. */
import { type Me, Refused, logIn, send, whoAmI } from "./api.ts";
import { announce, button, byId, el } from "./dom.ts";
import { inboxPage } from "./inbox.ts";
import type { Page } from "./page.ts";
import { runsPage } from "./runs.ts";
import { sessionPage } from "./session.ts";

const pages: { readonly [name: string]: Page } = { inbox: inboxPage, runs: runsPage, session: sessionPage };

const main = byId("main");
const bar = byId("bar");
let shown = new AbortController();

const reached = (isThere: boolean, thrown?: Refused): void => {
  const gone = byId("gone");
  if (thrown?.status === 401) return void showLogin("Your login has ended.");
  gone.hidden = isThere;
  gone.textContent = thrown === undefined ? "The host does not answer. Asking again…" : thrown.message;
};

const show = (me: Me): void => {
  shown.abort();
  shown = new AbortController();
  const [, name = "inbox", ...rest] = /^#\/(\w+)\/?(.*)$/.exec(location.hash) ?? [];
  const page = pages[name] ?? inboxPage;
  for (const link of bar.querySelectorAll("a"))
    if (link.hash === `#/${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  bar.hidden = false;
  document.title = "pawl";
  byId("gone").hidden = true;
  page({ main, me, reached, signal: shown.signal, rest: rest.join("") });
};

const enter = (me: Me): void => {
  const who = byId("who");
  who.replaceChildren(
    el("span", { class: "soft" }, me.by),
    button("Log out", { class: "quiet" }, () => void logOut()),
  );
  addEventListener("hashchange", () => show(me), { signal: session.signal });
  show(me);
};

let session = new AbortController();

const logOut = async (): Promise<void> => {
  await send("/v1/login", "DELETE").catch(() => undefined); // Its token ends by itself.
  showLogin("");
};

const showLogin = (why: string): void => {
  shown.abort();
  session.abort();
  session = new AbortController();
  bar.hidden = true;
  const problem = el("p", { class: "problem", role: "alert" }, why);
  const token = el("input", { id: "token", type: "password", name: "token", autocomplete: "off", required: true });
  const form = el(
    "form",
    { class: "login" },
    el("h1", {}, "pawl studio"),
    el("div", { class: "field" }, el("label", { for: "token" }, "Token of the host"), token),
    el("p", { class: "hint" }, "`pawl host --grant {name}` prints one, and `pawl token` makes others."),
    problem,
    el("button", { class: "primary", type: "submit" }, "Log in"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    logIn(token.value.trim()).then(enter, (thrown: unknown) => {
      problem.textContent = thrown instanceof Refused ? thrown.message : "The host does not answer.";
    });
  });
  main.replaceChildren(form);
  token.focus();
};

/** Takes the token out of the address: it must not stay in the history of the browser. */
const tokenInAddress = (): string | undefined => {
  const token = /^#token=(?<token>[\w.-]+)$/.exec(location.hash)?.groups?.["token"];
  if (token !== undefined) history.replaceState(null, "", `${location.pathname}#/inbox`);
  return token;
};

const begin = async (): Promise<void> => {
  const token = tokenInAddress();
  try {
    enter(token === undefined ? await whoAmI() : await logIn(token));
  } catch (thrown) {
    if (thrown instanceof Refused) return showLogin(token === undefined ? "" : thrown.message);
    announce("The host does not answer.", "failed");
    setTimeout(() => void begin(), 1000);
  }
};

void begin();
