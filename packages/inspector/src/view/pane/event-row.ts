/** One line of the list of events; it shows one event now and another one later. */
import type { Entry } from "../../model/entry.ts";
import { clock, el } from "../../dom.ts";

export const rowHeight = 44;

export interface RowPlace {
  readonly place: number;
  readonly count: number;
  readonly isHere: boolean;
}

export class EventRow {
  readonly element: HTMLElement;
  readonly #dot = el("span", { class: "dot" });
  readonly #number = el("span", { class: "number" });
  readonly #type = el("span", { class: "type" });
  readonly #time = el("time");
  readonly #gist = el("span", { class: "gist" });
  #entry: Entry | undefined;
  #at: RowPlace | undefined;

  constructor() {
    const parts = [this.#dot, this.#number, this.#type, this.#time, this.#gist];
    this.element = el("div", { class: "event", role: "option" }, ...parts);
  }

  show(entry: Entry, at: RowPlace): void {
    const before = this.#at;
    if (entry !== this.#entry) this.#tell(entry);
    if (at.place !== before?.place) this.element.style.transform = `translateY(${at.place * rowHeight}px)`;
    if (at.place !== before?.place || at.count !== before.count) {
      this.element.setAttribute("aria-posinset", String(at.place + 1));
      this.element.setAttribute("aria-setsize", String(at.count));
    }
    if (at.isHere !== before?.isHere) this.element.setAttribute("aria-selected", String(at.isHere));
    this.#at = at;
  }

  #tell(entry: Entry): void {
    const { seq, at, type, topic, gist } = entry;
    this.#entry = entry;
    this.element.id = `event-${seq}`;
    this.element.dataset["seq"] = String(seq);
    this.#dot.className = `dot ${topic}`;
    this.#number.textContent = String(seq);
    this.#type.textContent = type;
    this.#time.textContent = clock(at);
    this.#gist.textContent = gist;
  }
}
