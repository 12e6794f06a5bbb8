/** The inbox: everything that waits for a person, over all sessions that the token covers, and the decision on each. */
import { ago, announce, button, el, timeOf } from "./dom.ts";
import { type ArgumentForm, type Schema, argumentForm, shown } from "./form.ts";
import { Refused, send, watch } from "./api.ts";
import { type Page, sessionLink } from "./page.ts";

interface Wanted {
  readonly call: string;
  readonly tool: string;
  readonly args: unknown;
  readonly hash: string;
  readonly asked_at?: number;
  readonly expires_at?: number;
  readonly schema?: Schema;
}
interface Inbox {
  readonly sessions: readonly {
    readonly session: string;
    readonly title?: string;
    readonly count: number;
    readonly approvals?: readonly Wanted[];
    readonly address?: string;
  }[];
  readonly next?: string;
}
interface Asked extends Wanted {
  readonly session: string;
  readonly title?: string | undefined;
}

const keyOf = ({ session, call, hash }: Asked): string => JSON.stringify([session, call, hash]);

type Mode = "decide" | "edit" | "reject";

/** One call that waits. It keeps what its reader has typed while the list around it changes. */
class Card {
  readonly element: HTMLElement;
  readonly #asked: Asked;
  readonly #body = el("div", { class: "card-body" });
  readonly #actions = el("div", { class: "actions" });
  readonly #problem = el("p", { class: "problem", role: "alert" });
  #form: ArgumentForm | undefined;

  constructor(asked: Asked, isAllowed: boolean) {
    const { session, title, tool, asked_at: at, expires_at: until } = asked;
    this.#asked = asked;
    const place = el("a", { href: sessionLink(session), class: "place" }, title ?? session);
    const since = at === undefined ? undefined : el("span", { class: "soft" }, "asked ", timeOf(at));
    const ends = until === undefined ? undefined : el("span", { class: "asks" }, `ends ${ago(until)}`);
    this.element = el(
      "li",
      { class: "card", tabindex: "-1" },
      el("header", {}, el("h2", {}, tool), place, since, ends),
      this.#body,
      this.#problem,
      this.#actions,
    );
    if (isAllowed) this.element.addEventListener("keydown", (event) => this.#key(event));
    this.#show("decide", isAllowed);
  }

  #key(event: KeyboardEvent): void {
    const isTyping = event.target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key === "Escape") return this.#show("decide");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "a") this.#approve();
    else if (event.key === "e") this.#show("edit");
    else if (event.key === "r") this.#show("reject");
    else return;
    event.preventDefault();
  }

  #show(mode: Mode, isAllowed = true): void {
    const { args, schema } = this.#asked;
    this.#problem.textContent = "";
    this.#form = mode === "edit" ? argumentForm(args, schema) : undefined;
    if (mode === "reject") return this.#showReject();
    this.#body.replaceChildren(this.#form?.element ?? shown(args, schema));
    const back = (): void => this.#show("decide");
    if (!isAllowed)
      return this.#actions.replaceChildren(el("p", { class: "soft" }, "Your token may look, and not decide."));
    this.#actions.replaceChildren(
      button(mode === "edit" ? "Approve with these" : "Approve", { class: "primary", "aria-keyshortcuts": "a" }, () =>
        this.#approve(),
      ),
      ...(mode === "edit" ? [button("Back", { class: "quiet" }, back)] : []),
      ...(mode === "decide" ? [button("Edit", { "aria-keyshortcuts": "e" }, () => this.#show("edit"))] : []),
      ...(mode === "decide"
        ? [button("Reject", { class: "quiet", "aria-keyshortcuts": "r" }, () => this.#show("reject"))]
        : []),
      ...(mode === "decide" ? [this.#always()] : []),
    );
    this.#body.querySelector<HTMLElement>("input, textarea, select")?.focus();
  }

  #always(): HTMLElement {
    const { tool } = this.#asked;
    return button("Always", { class: "quiet", title: `Approve, and every later call of ${tool} in this session` }, () =>
      this.#approve("later"),
    );
  }

  #showReject(): void {
    const reason = el("textarea", { rows: 2, id: `reason-${this.#asked.hash}`, name: "reason" });
    const say = (): void => void this.#decide({ decision: "reject", reason: reason.value.trim() });
    this.#body.replaceChildren(
      shown(this.#asked.args, this.#asked.schema),
      el("div", { class: "field" }, el("label", { for: reason.id }, "Why not? The caller reads this."), reason),
    );
    this.#actions.replaceChildren(
      button("Reject", { class: "danger" }, say),
      button("Back", { class: "quiet" }, () => this.#show("decide")),
    );
    reason.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) say();
    });
    reason.focus();
  }

  #approve(sticky?: "later"): void {
    try {
      const args = this.#form?.read();
      const isSame = args === undefined || JSON.stringify(args) === JSON.stringify(this.#asked.args);
      void this.#decide({
        decision: "approve",
        ...(isSame ? {} : { args }),
        ...(sticky === undefined ? {} : { sticky }),
      });
    } catch (thrown) {
      this.#problem.textContent = thrown instanceof Error ? thrown.message : String(thrown);
    }
  }

  async #decide(said: { readonly decision: "approve" | "reject"; readonly [field: string]: unknown }): Promise<void> {
    const { session, call, hash, tool } = this.#asked;
    this.#problem.textContent = "";
    for (const one of this.#actions.querySelectorAll("button")) one.disabled = true;
    try {
      await send(`/v1/sessions/${encodeURIComponent(session)}/approvals/${encodeURIComponent(call)}`, "POST", {
        hash,
        ...said,
      });
      announce(`${tool}: ${said.decision === "approve" ? "approved" : "rejected"}`);
    } catch (thrown) {
      for (const one of this.#actions.querySelectorAll("button")) one.disabled = false;
      this.#problem.textContent = problemText(thrown);
    }
  }
}

/** Says what went wrong. Somebody else may have decided first: then the list says so by itself. */
const problemText = (thrown: unknown): string => {
  if (thrown instanceof Refused && thrown.code === "call_ended")
    return "This call is over: somebody else has decided, or it was cancelled.";
  if (thrown instanceof Refused) return thrown.message;
  return "The host did not answer. Nothing may have been decided: try again.";
};

/** Shows the inbox, and keeps it as it is now. */
export const inboxPage: Page = ({ main, me, reached, signal }) => {
  const list = el("ul", { class: "cards" });
  const empty = el("p", { class: "empty" }, "Nothing waits for a person.");
  const more = el("p", { class: "soft" });
  const hint = el(
    "p",
    { class: "soft keys" },
    "Keys: ",
    el("kbd", {}, "j"),
    " ",
    el("kbd", {}, "k"),
    " move, ",
    el("kbd", {}, "a"),
    " approve, ",
    el("kbd", {}, "e"),
    " edit, ",
    el("kbd", {}, "r"),
    " reject",
  );
  main.replaceChildren(el("h1", {}, "Inbox"), hint, list, more);
  const cards = new Map<string, Card>();
  const isAllowed = me.rights.includes("approve");
  const changed = ({ sessions, next }: Inbox): void => {
    const asked = sessions.flatMap(({ session, title, approvals = [] }) =>
      approvals.map((one): Asked => ({ ...one, session, title })),
    );
    const keys = new Set(asked.map(keyOf));
    const focused = [...cards].findIndex(([, { element }]) => element.contains(document.activeElement));
    for (const [key, card] of cards) {
      if (keys.has(key)) continue;
      card.element.remove();
      cards.delete(key);
    }
    for (const one of asked) {
      const key = keyOf(one);
      const card = cards.get(key) ?? new Card(one, isAllowed);
      cards.set(key, card);
      if (!card.element.isConnected) list.append(card.element);
    }
    if (focused !== -1 && !list.contains(document.activeElement)) focus(focused);
    const elsewhere = sessions.filter(({ approvals }) => approvals === undefined).length;
    more.textContent = [
      elsewhere === 0 ? "" : `${elsewhere} more sessions wait at other hosts.`,
      next === undefined ? "" : "More wait behind these.",
    ].join(" ");
    if (asked.length === 0) list.replaceChildren(el("li", {}, empty));
    else empty.parentElement?.remove();
    document.title = asked.length === 0 ? "pawl" : `(${asked.length}) pawl`;
  };
  const focus = (at: number): void => {
    const all = [...list.querySelectorAll<HTMLElement>(".card")];
    all[Math.max(0, Math.min(at, all.length - 1))]?.focus();
  };
  const move = (event: KeyboardEvent): void => {
    if (event.target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    if (event.key !== "j" && event.key !== "k") return;
    const all = [...list.querySelectorAll<HTMLElement>(".card")];
    const at = all.findIndex((one) => one.contains(document.activeElement));
    focus(event.key === "j" ? at + 1 : at - 1);
  };
  document.addEventListener("keydown", move, { signal });
  void watch<Inbox>("/v1/approvals?limit=100", { changed, reached, signal });
};
