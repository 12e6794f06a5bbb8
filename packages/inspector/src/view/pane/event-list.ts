/** The events of a log, one a line: only those in sight are elements, which are used again for others. */
import type { Chart } from "../timeline/chart.ts";
import { EventRow, rowHeight } from "./event-row.ts";
import { el, onceAFrame } from "../../dom.ts";

export class EventList {
  readonly element = el("div", { class: "events", role: "listbox", "aria-label": "Events", tabindex: "0" });
  readonly #sheet = el("div", { class: "sheet", role: "presentation" });
  readonly #pick: (seq: number) => void;
  readonly #drawSoon = onceAFrame(() => this.#draw());
  readonly #rows: EventRow[] = [];
  #chart: Chart | undefined;
  #seqs: readonly number[] | undefined;
  #seq = 0;
  #drawnCount = 0;
  /** As the element has them: asked for there they would cost a layout. */
  #top = 0;
  #height = 0;

  constructor(pick: (seq: number) => void) {
    this.#pick = pick;
    this.element.append(this.#sheet);
    const scrolled = (): void => {
      if (this.element.scrollTop === this.#top) return; // It was scrolled from here.
      this.#top = this.element.scrollTop;
      this.#drawSoon();
    };
    this.element.addEventListener("scroll", scrolled, { passive: true });
    this.element.addEventListener("click", (event) => {
      const row = (event.target as Element).closest<HTMLElement>("[data-seq]");
      if (row !== null) this.#pick(Number(row.dataset["seq"]));
    });
    new ResizeObserver(([entry]) => {
      this.#height = entry?.contentRect.height ?? 0;
      this.#top = this.element.scrollTop; // What was asked of a list that was larger already may not have been done.
      this.#reveal();
      this.#drawSoon();
    }).observe(this.element);
  }

  /**
   * Called once a frame, last of all that is shown: where it scrolls the browser lays the page out.
   * `seqs`: the events that are listed, where it is not all of them.
   */
  show(chart: Chart, seq: number, seqs: readonly number[] | undefined): void {
    const hasMoved = seq !== this.#seq || seqs !== this.#seqs;
    this.#chart = chart;
    this.#seqs = seqs;
    this.#seq = seq;
    this.#draw();
    if (hasMoved && this.#reveal()) this.#draw();
  }

  get #count(): number {
    return this.#seqs?.length ?? this.#chart?.entries.length ?? 0;
  }

  #placeOf(seq: number): number {
    return this.#seqs === undefined ? seq - (this.#chart?.base ?? 0) - 1 : this.#seqs.indexOf(seq);
  }

  /** Scrolls to the event that is looked at, where it is out of sight. */
  #reveal(): boolean {
    const place = this.#placeOf(this.#seq);
    const top = place * rowHeight;
    const isAbove = top < this.#top;
    if (place < 0 || this.#height === 0 || (!isAbove && top + rowHeight <= this.#top + this.#height)) return false;
    this.#top = isAbove ? top : top + rowHeight - this.#height;
    this.element.scrollTop = this.#top;
    return true;
  }

  #draw(): void {
    const chart = this.#chart;
    if (chart === undefined) return;
    const count = this.#count;
    if (count !== this.#drawnCount) this.#sheet.style.height = `${count * rowHeight}px`;
    this.#drawnCount = count;
    const first = Math.max(0, Math.floor(this.#top / rowHeight) - 2);
    const last = Math.min(count, first + Math.ceil(this.#height / rowHeight) + 4);
    let isHere = false;
    for (let place = first; place < last; place++) {
      const seq = this.#seqs === undefined ? chart.base + place + 1 : (this.#seqs[place] ?? 0);
      const entry = chart.entryAt(seq);
      if (entry === undefined) continue;
      isHere ||= seq === this.#seq;
      this.#rowAt(place - first).show(entry, { place, count, isHere: seq === this.#seq });
    }
    for (const row of this.#rows.splice(last - first)) row.element.remove();
    if (isHere) this.element.setAttribute("aria-activedescendant", `event-${this.#seq}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  #rowAt(n: number): EventRow {
    const known = this.#rows[n];
    if (known !== undefined) return known;
    const made = new EventRow();
    this.#rows[n] = made;
    this.#sheet.append(made.element);
    return made;
  }
}
