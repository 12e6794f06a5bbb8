/** A tab list by the ARIA practices: one of several panes is shown. */
import { el } from "../../dom.ts";

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly pane: HTMLElement;
}

export class Tabs {
  readonly list = el("div", { class: "tabs", role: "tablist", "aria-label": "Views of the event" });
  readonly #tabs: readonly Tab[];
  readonly #changed: (id: string) => void;
  #current: string;

  constructor(tabs: readonly Tab[], current: string, changed: (id: string) => void) {
    this.#tabs = tabs;
    this.#current = current;
    this.#changed = changed;
    for (const { id, label, pane } of tabs) {
      const tab = el("button", { type: "button", id: `tab-${id}`, role: "tab", "aria-controls": `pane-${id}` }, label);
      tab.addEventListener("click", () => this.choose(id));
      pane.id = `pane-${id}`;
      pane.setAttribute("role", "tabpanel");
      pane.setAttribute("aria-labelledby", `tab-${id}`);
      pane.tabIndex = 0;
      this.list.append(tab);
    }
    this.list.addEventListener("keydown", (event) => this.#key(event));
    this.#show();
  }

  get current(): string {
    return this.#current;
  }

  choose(id: string): void {
    this.#current = id;
    this.#show();
    this.#changed(id);
  }

  #show(): void {
    for (const { id, pane } of this.#tabs) {
      const isHere = id === this.#current;
      const tab = this.list.querySelector<HTMLElement>(`#tab-${id}`);
      tab?.setAttribute("aria-selected", String(isHere));
      if (tab !== null) tab.tabIndex = isHere ? 0 : -1;
      pane.classList.toggle("here", isHere);
    }
  }

  #key(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : -1;
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    event.preventDefault();
    event.stopPropagation();
    const shown = this.#tabs.filter(({ id }) => this.#tabOf(id)?.offsetParent !== null);
    const place = shown.findIndex(({ id }) => id === this.#current);
    const next = shown[(place + step + shown.length) % shown.length];
    if (next === undefined) return;
    this.choose(next.id);
    this.#tabOf(next.id)?.focus();
  }

  #tabOf(id: string): HTMLElement | null {
    return this.list.querySelector(`#tab-${id}`);
  }
}
