/** The timeline: a canvas with a lane a call, drawn anew whenever something changed. */
import { Brush, footer, heightOf, ruler } from "./timeline-painter.ts";
import type { Chart, RowInSight } from "./chart.ts";
import { onceAFrame } from "../../dom.ts";
import { type Palette, paletteOf, toneOfTopic } from "./palette.ts";

const mostPerEvent = 72;

/** What is drawn. */
export interface Sight {
  readonly chart: Chart;
  readonly seq: number;
  /** Of one call alone. */
  readonly call: string | undefined;
  /** Where another log first differs from this one. */
  readonly difference: number | undefined;
  readonly found: ReadonlySet<number>;
}

export class Timeline {
  readonly canvas = document.createElement("canvas");
  readonly #pick: (seq: number) => void;
  readonly draw = onceAFrame(() => this.#draw());
  #sight: Sight | undefined;
  #palette: Palette | undefined;
  #width = 0;
  #height = 0;
  /** Pixels an event takes; 0: as many as there is room for. */
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

  /** Called once a frame. */
  show(sight: Sight): void {
    this.#sight = sight;
    this.#draw();
  }

  /** The page's colours are others now. */
  recolour(): void {
    this.#palette = undefined;
    this.draw();
  }

  zoom(factor: number): void {
    this.#zoom = Math.min(mostPerEvent, Math.max(2, this.#perEvent * factor));
    this.draw();
  }

  get #gutter(): number {
    return this.#width < 560 ? 84 : 148;
  }
  get #room(): number {
    return Math.max(1, this.#width - this.#gutter - 14);
  }
  get #count(): number {
    const { chart } = this.#sight ?? {};
    return chart === undefined ? 1 : Math.max(1, chart.last - chart.base);
  }
  get #perEvent(): number {
    return this.#zoom || Math.min(mostPerEvent, Math.max(6, this.#room / (this.#count + 1)));
  }
  get #lastInSight(): number {
    return this.#first + Math.ceil(this.#room / this.#perEvent);
  }
  get #floor(): number {
    const hasLabels = this.#sight?.chart.hasNamedMarks === true;
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

  /** Keeps the cursor in sight, and moves as little as that takes. */
  #follow(seq: number): void {
    const fits = Math.floor(this.#room / this.#perEvent);
    const base = (this.#sight?.chart.base ?? 0) + 1;
    const end = base + this.#count - 1;
    if (seq < this.#first + 2) this.#first = seq - Math.floor(fits / 3);
    else if (seq > this.#first + fits - 2) this.#first = seq - Math.floor((fits * 2) / 3);
    this.#first = Math.max(base, Math.min(this.#first, end - fits + 2));
  }

  /** Scrolls to the lane of the event that is looked at, when that is another one. */
  #reveal(rows: readonly RowInSight[], { chart, seq }: Sight): void {
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

  #rows(): readonly RowInSight[] {
    if (this.#sight === undefined) return [];
    return this.#sight.chart.between(this.#first, this.#lastInSight, this.#sight.call);
  }

  #draw(): void {
    const context = this.canvas.getContext("2d");
    const sight = this.#sight;
    if (context === null || sight === undefined || this.#width === 0) return;
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
    this.#follow(sight.seq);
    const rows = this.#rows();
    const needed = rows.reduce((sum, row) => sum + heightOf(row), ruler);
    this.#reveal(rows, sight);
    this.#scroll = Math.min(this.#scroll, Math.max(0, needed - this.#floor));
    const brush = new Brush(context, this.#palette, {
      width: this.#width,
      height: this.#height,
      floor: this.#floor,
      gutter: this.#gutter,
      first: this.#first,
      last: this.#lastInSight,
      end: sight.chart.last + 0.5,
      xOf: (seq) => this.#xOf(seq),
    });
    this.#drawRows(brush, rows);
    this.#drawRuler(context, brush, sight);
    this.#drawCursor(brush, this.#palette, sight);
    this.#drawMarks(brush, sight);
  }

  #drawRows(brush: Brush, rows: readonly RowInSight[]): void {
    let y = ruler - this.#scroll;
    for (const row of rows) {
      const height = heightOf(row);
      if (y + height > ruler && y < this.#floor) brush.row(row, y);
      y += height;
    }
  }

  #drawRuler(context: CanvasRenderingContext2D, brush: Brush, { chart, found }: Sight): void {
    const palette = this.#palette as Palette;
    const to = Math.min(chart.last, this.#lastInSight);
    const size = Math.min(3.5, Math.max(1, this.#perEvent / 3));
    brush.box({ x: 0, y: ruler - 1, width: this.#width, height: 1 }, palette.line, 0);
    const every = [1, 2, 5, 10, 20, 50, 100].find((n) => n * this.#perEvent > 44) ?? 200;
    context.textAlign = "center";
    for (let seq = Math.max(1, Math.floor(this.#first)); seq <= to; seq++) {
      const x = this.#xOf(seq);
      if (x < this.#gutter) continue;
      brush.dot(x, 20, found.has(seq) ? size + 2 : size, palette[toneOfTopic(chart.entryAt(seq)?.topic ?? "")]);
      if (seq % every === 0 && x < this.#width - 20)
        brush.text(String(seq), x, 8, { colour: palette.soft, font: "10px" });
    }
    context.textAlign = "start";
  }

  #drawMarks(brush: Brush, { chart }: Sight): void {
    const to = Math.min(chart.last, this.#lastInSight);
    for (const mark of chart.marks) {
      const x = this.#xOf(mark.seq) - this.#perEvent / 2;
      if (mark.seq <= to && x >= this.#gutter) brush.mark(mark, x);
    }
  }

  #drawCursor(brush: Brush, palette: Palette, { seq, difference }: Sight): void {
    const edge = difference === undefined ? 0 : this.#xOf(difference) - this.#perEvent / 2;
    if (edge >= this.#gutter) brush.line(edge, ruler, palette.wait);
    const x = this.#xOf(seq);
    if (x < this.#gutter || seq === 0) return;
    brush.line(x, 20, palette.accent);
    brush.dot(x, 20, 5, palette.accent);
  }
}
