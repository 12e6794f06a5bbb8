/** The timeline: a canvas with one lane for each call, with zoom, scroll and picking. */
import { TimelinePainter, footer, heightOf, ruler } from "./timeline-painter.ts";
import type { Chart, VisibleRow } from "./chart.ts";
import { onceAFrame } from "../../dom.ts";
import { type Palette, paletteOf, toneOfTopic } from "./palette.ts";

const maxPixelsPerEvent = 72;

export interface TimelineView {
  readonly chart: Chart;
  readonly seq: number;
  /** The chosen call; undefined shows all. */
  readonly call: string | undefined;
  /** The first event that differs from the other log. */
  readonly difference: number | undefined;
  readonly found: ReadonlySet<number>;
}

export class Timeline {
  readonly canvas = document.createElement("canvas");
  readonly #pick: (seq: number) => void;
  readonly draw = onceAFrame(() => this.#draw());
  #view: TimelineView | undefined;
  #palette: Palette | undefined;
  #width = 0;
  #height = 0;
  /** Pixels for each event; 0 fits the log to the width. */
  #zoom = 0;
  #first = 1;
  #scroll = 0;
  #revealed = 0;

  constructor(pick: (seq: number) => void) {
    this.#pick = pick;
    this.canvas.setAttribute("aria-hidden", "true");
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.#pickAt(event);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (this.canvas.hasPointerCapture(event.pointerId)) this.#pickAt(event);
    });
    this.canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    new ResizeObserver(([entry]) => {
      this.#width = entry?.contentRect.width ?? 0;
      this.#height = entry?.contentRect.height ?? 0;
      this.draw();
    }).observe(this.canvas);
  }

  show(view: TimelineView): void {
    this.#view = view;
    this.#draw();
  }

  /** Reads the colours of the page again. */
  recolour(): void {
    this.#palette = undefined;
    this.draw();
  }

  zoom(factor: number): void {
    this.#zoom = Math.min(maxPixelsPerEvent, Math.max(2, this.#perEvent * factor));
    this.draw();
  }

  get #gutter(): number {
    return this.#width < 560 ? 84 : 148;
  }
  get #room(): number {
    return Math.max(1, this.#width - this.#gutter - 14);
  }
  get #count(): number {
    const { chart } = this.#view ?? {};
    return chart === undefined ? 1 : Math.max(1, chart.last - chart.base);
  }
  get #perEvent(): number {
    return this.#zoom || Math.min(maxPixelsPerEvent, Math.max(6, this.#room / (this.#count + 1)));
  }
  get #lastVisible(): number {
    return this.#first + Math.ceil(this.#room / this.#perEvent);
  }
  get #floor(): number {
    const hasLabels = this.#view?.chart.hasNamedMarks === true;
    return this.#height - (hasLabels ? footer : 0);
  }
  #xOf(seq: number): number {
    return this.#gutter + (seq - this.#first + 0.5) * this.#perEvent;
  }

  #pickAt(event: PointerEvent): void {
    const x = event.offsetX - this.#gutter;
    this.#pick(Math.round(this.#first + x / this.#perEvent - 0.5));
  }

  #wheel(event: WheelEvent): void {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      return this.zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15);
    }
    const needed = this.#rows().reduce((sum, row) => sum + heightOf(row), ruler);
    const most = Math.max(0, needed - this.#floor);
    const next = Math.min(most, Math.max(0, this.#scroll + event.deltaY));
    if (next === this.#scroll) return;
    event.preventDefault();
    this.#scroll = next;
    this.draw();
  }

  /** Keeps the cursor in view, with as little motion as possible. */
  #follow(seq: number): void {
    const fits = Math.floor(this.#room / this.#perEvent);
    const base = (this.#view?.chart.base ?? 0) + 1;
    const end = base + this.#count - 1;
    if (seq < this.#first + 2) this.#first = seq - Math.floor(fits / 3);
    else if (seq > this.#first + fits - 2) this.#first = seq - Math.floor((fits * 2) / 3);
    this.#first = Math.max(base, Math.min(this.#first, end - fits + 2));
  }

  /** Scrolls to the lane of the current event when the event has changed. */
  #reveal(rows: readonly VisibleRow[], { chart, seq }: TimelineView): void {
    if (seq === this.#revealed) return;
    this.#revealed = seq;
    const call = chart.entryAt(seq)?.call;
    let top = 0;
    for (const row of rows) {
      if (row.lane.key === call) {
        const bottom = top + heightOf(row) - (this.#floor - ruler);
        this.#scroll = Math.max(bottom, Math.min(this.#scroll, top));
        return;
      }
      top += heightOf(row);
    }
  }

  #rows(): readonly VisibleRow[] {
    if (this.#view === undefined) return [];
    return this.#view.chart.between(this.#first, this.#lastVisible, this.#view.call);
  }

  #draw(): void {
    const context = this.canvas.getContext("2d");
    const view = this.#view;
    if (context === null || view === undefined || this.#width === 0) return;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [Math.round(this.#width * ratio), Math.round(this.#height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.#palette ??= paletteOf(this.canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.#width, this.#height);
    context.textBaseline = "middle";
    this.#follow(view.seq);
    const rows = this.#rows();
    const needed = rows.reduce((sum, row) => sum + heightOf(row), ruler);
    this.#reveal(rows, view);
    this.#scroll = Math.min(this.#scroll, Math.max(0, needed - this.#floor));
    const painter = new TimelinePainter(context, this.#palette, {
      width: this.#width,
      height: this.#height,
      floor: this.#floor,
      gutter: this.#gutter,
      first: this.#first,
      last: this.#lastVisible,
      end: view.chart.last + 0.5,
      xOf: (seq) => this.#xOf(seq),
    });
    this.#drawRows(painter, rows);
    this.#drawRuler(context, painter, view);
    this.#drawCursor(painter, this.#palette, view);
    this.#drawMarks(painter, view);
  }

  #drawRows(painter: TimelinePainter, rows: readonly VisibleRow[]): void {
    let y = ruler - this.#scroll;
    for (const row of rows) {
      const height = heightOf(row);
      if (y + height > ruler && y < this.#floor) painter.row(row, y);
      y += height;
    }
  }

  #drawRuler(context: CanvasRenderingContext2D, painter: TimelinePainter, { chart, found }: TimelineView): void {
    const palette = this.#palette as Palette;
    const to = Math.min(chart.last, this.#lastVisible);
    const size = Math.min(3.5, Math.max(1, this.#perEvent / 3));
    painter.box({ x: 0, y: ruler - 1, width: this.#width, height: 1 }, palette.line, 0);
    const every = [1, 2, 5, 10, 20, 50, 100].find((n) => n * this.#perEvent > 44) ?? 200;
    context.textAlign = "center";
    for (let seq = Math.max(1, Math.floor(this.#first)); seq <= to; seq++) {
      const x = this.#xOf(seq);
      if (x < this.#gutter) continue;
      painter.dot(x, 20, found.has(seq) ? size + 2 : size, palette[toneOfTopic(chart.entryAt(seq)?.topic ?? "")]);
      if (seq % every === 0 && x < this.#width - 20)
        painter.text(String(seq), x, 8, { colour: palette.soft, font: "10px" });
    }
    context.textAlign = "start";
  }

  #drawMarks(painter: TimelinePainter, { chart }: TimelineView): void {
    const to = Math.min(chart.last, this.#lastVisible);
    for (const mark of chart.marks) {
      const x = this.#xOf(mark.seq) - this.#perEvent / 2;
      if (mark.seq <= to && x >= this.#gutter) painter.mark(mark, x);
    }
  }

  #drawCursor(painter: TimelinePainter, palette: Palette, { seq, difference }: TimelineView): void {
    const edge = difference === undefined ? 0 : this.#xOf(difference) - this.#perEvent / 2;
    if (edge >= this.#gutter) painter.line(edge, ruler, palette.wait);
    const x = this.#xOf(seq);
    if (x < this.#gutter || seq === 0) return;
    painter.line(x, 20, palette.accent);
    painter.dot(x, 20, 5, palette.accent);
  }
}
