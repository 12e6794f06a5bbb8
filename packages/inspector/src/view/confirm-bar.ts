/** A bar that asks for confirmation: a question and two answers. A new question replaces the old one. */
import { button, el } from "../dom.ts";
import type { Confirmation } from "./save-log.ts";

export class ConfirmBar {
  readonly element = el("div", { class: "asked", role: "group", "aria-label": "A question", hidden: true });
  /** The element that had the focus before. */
  #from: { readonly focus: () => void } | undefined;

  constructor() {
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.leave();
    });
  }

  /** Shows a question, and focuses the answer that does nothing. */
  ask({ words, yes, no, act }: Confirmation, from: { readonly focus: () => void }): void {
    const leave = button(no, {}, () => this.leave());
    const confirm = button(yes, {}, () => {
      this.leave();
      act();
    });
    this.#from = from;
    this.element.replaceChildren(el("p", { role: "alert" }, words), el("div", { class: "actions" }, confirm, leave));
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
