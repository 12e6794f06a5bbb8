/** What is asked before something is done: words, and two ways to answer. Whoever asks again takes its place. */
import { button, el } from "../dom.ts";
import type { Asking } from "./save-log.ts";

export class Asked {
  readonly element = el("div", { class: "asked", role: "group", "aria-label": "A question", hidden: true });
  /** Where the focus was. */
  #from: { readonly focus: () => void } | undefined;

  constructor() {
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.leave();
    });
  }

  /** The focus goes to the answer that does nothing. */
  ask({ words, yes, no, act }: Asking, from: { readonly focus: () => void }): void {
    const leave = button(no, {}, () => this.leave());
    const goOn = button(yes, {}, () => {
      this.leave();
      act();
    });
    this.#from = from;
    this.element.replaceChildren(el("p", { role: "alert" }, words), el("div", { class: "actions" }, goOn, leave));
    this.element.hidden = false;
    leave.focus();
  }

  leave(): void {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.element.replaceChildren();
    this.#from?.focus();
  }
}
