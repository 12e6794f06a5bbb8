/** The events of a log, one a line: only those in sight are elements. */
import type { Entry } from "../model/entry.ts";
import type { Chart } from "./chart.ts";
import { clock, el, onceAFrame } from "./dom.ts";

const rowHeight = 44;

export class EventList {
  readonly element = el("div", { class: "events", role: "listbox", "aria-label": "Events", tabindex: "0" });
  readonly #sheet = el("div", { class: "sheet", role: "presentation" });
  readonly #pick: (seq: number) => void;
  readonly draw = onceAFrame(() => this.#draw());
  #chart: Chart | undefined;
  #seqs: readonly number[] | undefined;
  #seq = 0;
  /** As the element has them: asked for there they would cost a layout. */
  #top = 0;
  #height = 0;

  constructor(pick: (seq: number) => void) {
    this.#pick = pick;
    this.element.append(this.#sheet);
    const scrolled = (): void => {
      this.#top = this.element.scrollTop;
      this.draw();
    };
    this.element.addEventListener("scroll", scrolled, { passive: true });
    this.element.addEventListener("click", (event) => {
      const row = (event.target as Element).closest<HTMLElement>("[data-seq]");
      if (row !== null) this.#pick(Number(row.dataset["seq"]));
    });
    new ResizeObserver(([entry]) => {
      this.#height = entry?.contentRect.height ?? 0;
      this.draw();
    }).observe(this.element);
  }

  /** `seqs`: the events that are listed, where it is not all of them. */
  show(chart: Chart, seq: number, seqs: readonly number[] | undefined): void {
    const hasMoved = seq !== this.#seq || seqs !== this.#seqs;
    this.#chart = chart;
    this.#seqs = seqs;
    this.#seq = seq;
    this.#sheet.style.height = `${this.#count * rowHeight}px`;
    if (hasMoved) this.#reveal();
    this.draw();
  }

  get #count(): number {
    return this.#seqs?.length ?? this.#chart?.entries.length ?? 0;
  }

  #placeOf(seq: number): number {
    return this.#seqs === undefined ? seq - (this.#chart?.base ?? 0) - 1 : this.#seqs.indexOf(seq);
  }

  #reveal(): void {
    const place = this.#placeOf(this.#seq);
    if (place < 0) return;
    const top = place * rowHeight;
    if (top < this.#top) this.#top = top;
    else if (top + rowHeight > this.#top + this.#height) this.#top = top + rowHeight - this.#height;
    else return;
    this.element.scrollTop = this.#top;
  }

  #draw(): void {
    const chart = this.#chart;
    if (chart === undefined) return;
    const first = Math.max(0, Math.floor(this.#top / rowHeight) - 2);
    const last = Math.min(this.#count, first + Math.ceil(this.#height / rowHeight) + 4);
    const rows: HTMLElement[] = [];
    for (let place = first; place < last; place++) {
      const entry = chart.entryAt(this.#seqs === undefined ? chart.base + place + 1 : (this.#seqs[place] ?? 0));
      if (entry !== undefined) rows.push(this.#row(entry, place));
    }
    this.#sheet.replaceChildren(...rows);
    const isHere = rows.some(({ id }) => id === `event-${this.#seq}`);
    if (isHere) this.element.setAttribute("aria-activedescendant", `event-${this.#seq}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  #row({ seq, at, type, topic, gist }: Entry, place: number): HTMLElement {
    const isHere = seq === this.#seq;
    const row = el(
      "div",
      {
        id: `event-${seq}`,
        class: "event",
        role: "option",
        "aria-selected": String(isHere),
        "aria-posinset": place + 1,
        "aria-setsize": this.#count,
        "data-seq": seq,
      },
      el("span", { class: `dot ${topic}` }),
      el("span", { class: "number" }, String(seq)),
      el("span", { class: "type" }, type),
      el("time", {}, clock(at)),
      el("span", { class: "gist" }, gist),
    );
    row.style.transform = `translateY(${place * rowHeight}px)`;
    return row;
  }
}
