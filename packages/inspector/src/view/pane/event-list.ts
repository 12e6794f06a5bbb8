/** A virtual list of a log's events: only the rows in view are elements, and they are reused for other events. */
import { clock, el, onceAFrame } from "../../dom.ts";
import type { Entry } from "../../model/entry.ts";
import type { Chart } from "../timeline/chart.ts";

const rowHeight = 44;

interface RowPlace {
  readonly place: number;
  readonly count: number;
  readonly isHere: boolean;
}

class EventRow {
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
    if (entry !== this.#entry) this.#fill(entry);
    if (at.place !== before?.place) this.element.style.transform = `translateY(${at.place * rowHeight}px)`;
    if (at.place !== before?.place || at.count !== before.count) {
      this.element.setAttribute("aria-posinset", String(at.place + 1));
      this.element.setAttribute("aria-setsize", String(at.count));
    }
    if (at.isHere !== before?.isHere) this.element.setAttribute("aria-selected", String(at.isHere));
    this.#at = at;
  }

  #fill(entry: Entry): void {
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

export class EventList {
  readonly element = el("div", { class: "events", role: "listbox", "aria-label": "Events", tabindex: "0" });
  readonly #content = el("div", { class: "sheet", role: "presentation" });
  readonly #pick: (seq: number) => void;
  readonly #drawSoon = onceAFrame(() => this.#draw());
  readonly #rows: EventRow[] = [];
  #chart: Chart | undefined;
  #seqs: readonly number[] | undefined;
  #seq = 0;
  #drawnCount = 0;
  /** Copies of the element's scroll position and height: reading them there would force a layout. */
  #top = 0;
  #height = 0;

  constructor(pick: (seq: number) => void) {
    this.#pick = pick;
    this.element.append(this.#content);
    const scrolled = (): void => {
      if (this.element.scrollTop === this.#top) return; // `#reveal` has scrolled it.
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
      this.#top = this.element.scrollTop; // The browser may have clamped it.
      this.#reveal();
      this.#drawSoon();
    }).observe(this.element);
  }

  /** Draws the list; called once a frame, after everything else, because scrolling forces a layout. */
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

  /** Scrolls to the current event if it is out of view. */
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
    if (count !== this.#drawnCount) this.#content.style.height = `${count * rowHeight}px`;
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
    const row = new EventRow();
    this.#rows[n] = row;
    this.#content.append(row.element);
    return row;
  }
}
