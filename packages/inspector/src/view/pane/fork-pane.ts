/** The pane for forks: the current event as editable text, and the buttons that continue from it. */
import { type Json, noLimits, parse, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Moment } from "../../model/moment.ts";
import { button, el } from "../../dom.ts";

export interface ForkRequest {
  readonly seq: number;
  /** The edited event; undefined if it is unchanged. */
  readonly edited: Json | undefined;
  readonly by: "record" | "engine";
}

export interface ForkPaneOptions {
  readonly hasEngine: () => boolean;
  readonly fork: (request: ForkRequest) => void;
  readonly leave: () => void;
}

const indented = (json: Json, depth = 0): string => {
  if (typeof json !== "object" || json === null) return stringify(json);
  const inner = "  ".repeat(depth + 1);
  const isList = Array.isArray(json);
  const parts = isList
    ? json.map((item: Json) => `${inner}${indented(item, depth + 1)}`)
    : Object.entries(json).map(([key, item]) => `${inner}${stringify(key)}: ${indented(item as Json, depth + 1)}`);
  const [open, close] = isList ? "[]" : "{}";
  return parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join(",\n")}\n${"  ".repeat(depth)}${close}`;
};

export class ForkPane {
  readonly element = el("div", { class: "fork" });
  readonly #options: ForkPaneOptions;
  readonly #text = el("textarea", { spellcheck: "false", rows: "8", "aria-label": "The event, to be edited" });
  readonly #status = el("p", { class: "said", role: "status" });
  readonly #engine: HTMLButtonElement;
  readonly #record: HTMLButtonElement;
  readonly #leave: HTMLButtonElement;
  readonly #title = el("h2");
  #seq = 0;
  #original = "";

  constructor(options: ForkPaneOptions) {
    this.#options = options;
    this.#engine = button("Continue with the tools", { class: "primary" }, () => this.#fork("engine"));
    this.#record = button("Continue as recorded", {}, () => this.#fork("record"));
    this.#leave = button("Leave the fork", { class: "quiet", hidden: true }, options.leave);
    this.element.append(
      this.#title,
      el(
        "p",
        { class: "hint" },
        "What if this had gone differently? Change a result or an argument, or nothing at all. The fork runs beside the log, which stays unchanged.",
      ),
      this.#text,
      el("div", { class: "actions" }, this.#engine, this.#record, this.#leave, this.#status),
    );
  }

  show(moment: Moment): void {
    this.#engine.hidden = !this.#options.hasEngine();
    if (moment.seq === this.#seq) return;
    this.#seq = moment.seq;
    this.#title.textContent = `Fork at event ${moment.seq}`;
    const { event } = (moment.json ?? {}) as { readonly event?: Json };
    this.#original = event === undefined ? "" : indented(event);
    this.#text.value = this.#original;
    this.#enable(true);
  }

  /** Forgets the event: another log is opened. */
  clear(): void {
    this.#seq = 0;
    this.#original = this.#text.value = this.#title.textContent = "";
    this.#enable(false);
    this.say("", false);
  }

  #enable(hasEvent: boolean): void {
    for (const part of [this.#engine, this.#record, this.#text]) part.disabled = !hasEvent;
  }

  /** Says how the fork goes. An error interrupts what a screen reader says. */
  say(words: string, isForked: boolean, isError = false): void {
    this.#status.setAttribute("role", isError ? "alert" : "status");
    this.#status.textContent = words;
    this.#leave.hidden = !isForked;
  }

  #fork(by: ForkRequest["by"]): void {
    const text = this.#text.value;
    if (text === this.#original) return this.#options.fork({ seq: this.#seq, edited: undefined, by });
    const edited = parse(text, noLimits);
    if (E.isLeft(edited)) this.say(`This is not JSON: ${edited.left.message}`, !this.#leave.hidden, true);
    else this.#options.fork({ seq: this.#seq, edited: edited.right, by });
  }
}
