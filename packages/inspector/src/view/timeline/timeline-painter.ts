/** Draws the parts of a timeline on a canvas; the caller decides on positions. */
import type { Mark, Span } from "../../model/lane-builder.ts";
import type { VisibleRow } from "./chart.ts";
import { type Palette, toneOf, toneOfMark } from "./palette.ts";

export const ruler = 30;
/** The height of the labels of marks. */
export const footer = 24;
const laneHeight = 24;
const trackHeight = 17;
const laneGap = 10;

export const heightOf = ({ lane }: VisibleRow): number => laneHeight + lane.tracks * trackHeight + laneGap;

/** The coordinates of the canvas. */
export interface Viewport {
  readonly width: number;
  readonly height: number;
  /** The lower end of the lanes; below are the labels of marks. */
  readonly floor: number;
  /** The left end of the lanes; to the left are their names. */
  readonly gutter: number;
  /** The events at both ends of the canvas. */
  readonly first: number;
  readonly last: number;
  /** The end of the log, to which open spans are drawn. */
  readonly end: number;
  readonly xOf: (seq: number) => number;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Pen {
  readonly colour: string;
  readonly font: string;
  readonly room?: number;
}

/** A shorter label is left out. */
const minLetters = 3;

export class TimelinePainter {
  readonly #context: CanvasRenderingContext2D;
  readonly #palette: Palette;
  readonly #viewport: Viewport;
  /** The right end of the last label of a mark. Marks are drawn from left to right. */
  #labelled = -Infinity;

  constructor(context: CanvasRenderingContext2D, palette: Palette, viewport: Viewport) {
    this.#context = context;
    this.#palette = palette;
    this.#viewport = viewport;
  }

  #within({ x, y, width, height }: Box, draw: () => void): void {
    this.#context.save();
    this.#context.beginPath();
    this.#context.rect(x, y, width, height);
    this.#context.clip();
    draw();
    this.#context.restore();
  }

  /** Draws text, shortened to fit into `room` pixels. */
  text(words: string, x: number, y: number, { colour, font, room = Infinity }: Pen): void {
    this.#context.fillStyle = colour;
    this.#context.font = `${font} ${this.#palette.font}`;
    this.#context.fillText(this.#fit(words, room), x, y);
  }

  #fit(words: string, room: number): string {
    if (room === Infinity) return words;
    const { width } = this.#context.measureText(words);
    if (width <= room) return words;
    const letters = Math.floor((room / width) * words.length) - 1;
    return letters < minLetters ? "" : `${words.slice(0, letters).trimEnd()}…`;
  }

  box({ x, y, width, height }: Box, colour: string, radius: number): void {
    this.#context.fillStyle = colour;
    this.#context.beginPath();
    this.#context.roundRect(x, y, width, height, Math.min(radius, width / 2));
    this.#context.fill();
  }

  dot(x: number, y: number, size: number, colour: string): void {
    this.#context.fillStyle = colour;
    this.#context.beginPath();
    this.#context.arc(x, y, size, 0, 2 * Math.PI);
    this.#context.fill();
  }

  /** Draws a vertical line down the whole timeline. */
  line(x: number, from: number, colour: string, isDashed = false): void {
    this.#context.strokeStyle = colour;
    this.#context.lineWidth = isDashed ? 1 : 1.5;
    this.#context.setLineDash(isDashed ? [3, 4] : []);
    this.#context.beginPath();
    this.#context.moveTo(x, from);
    this.#context.lineTo(x, this.#viewport.height);
    this.#context.stroke();
    this.#context.setLineDash([]);
  }

  row({ lane, spans }: VisibleRow, y: number): void {
    const { gutter, width, floor, first, last } = this.#viewport;
    const { ink, soft } = this.#palette;
    const x = 12 + Math.min(4, lane.depth) * 10;
    this.#within({ x: 0, y: ruler, width: gutter - 8, height: floor - ruler }, () => {
      const room = gutter - 10 - x;
      this.text(lane.title, x, y + 12, { colour: ink, font: "600 12px", room });
      const name = lane.key.slice(lane.key.lastIndexOf(":") + 1);
      if (lane.tracks > 0) this.text(name, x, y + laneHeight + 8, { colour: soft, font: "11px", room });
    });
    this.#within({ x: gutter, y: ruler, width: width - gutter, height: floor - ruler }, () => {
      for (const span of spans) if (span.from <= last && (span.to ?? Infinity) >= first) this.#span(span, y);
    });
  }

  #span(span: Span, y: number): void {
    const { xOf, end, gutter } = this.#viewport;
    const { ink, panel } = this.#palette;
    const isLane = span.track === 0;
    const x = xOf(span.from);
    const width = Math.max(span.to === span.from ? 10 : 3, xOf(span.to ?? end) - x - 2);
    const top = isLane ? y + 2 : y + laneHeight + (span.track - 1) * trackHeight + 1;
    const box = { x, y: top, width, height: isLane ? 18 : 14 };
    const isSolid = !isLane || span.kind === "ended";
    this.#context.globalAlpha = isSolid ? 0.95 : 0.24;
    this.box(box, this.#palette[toneOf(span.kind, span.end)], isLane ? 5 : 4);
    this.#context.globalAlpha = 1;
    if (span.end === "lost") this.#hatch(box, isSolid ? ink : panel);
    if (width < 26) return;
    const left = Math.max(x, gutter) + 6;
    this.#within(box, () =>
      this.text(span.label, left, top + box.height / 2 + 0.5, {
        colour: isSolid ? panel : ink,
        font: isLane ? "11px" : "10.5px",
        room: x + width - left - 4,
      }),
    );
  }

  /** Hatches a lost span, so that it shows without its colour too. */
  #hatch(box: Box, colour: string): void {
    const { x, y, width, height } = box;
    this.#within(box, () => {
      this.#context.strokeStyle = colour;
      this.#context.globalAlpha = 0.3;
      this.#context.lineWidth = 2;
      this.#context.beginPath();
      for (let at = x - height; at < x + width; at += 7) {
        this.#context.moveTo(at, y + height);
        this.#context.lineTo(at + height, y);
      }
      this.#context.stroke();
    });
  }

  /** Draws a mark in front of its event. */
  mark(mark: Mark, x: number): void {
    const { type, label } = mark;
    const { width: room, height } = this.#viewport;
    const { panel } = this.#palette;
    const isNamed = type !== "opened";
    const colour = this.#palette[toneOfMark(mark)];
    this.line(x, ruler, colour, !isNamed);
    if (!isNamed) return;
    const words = room < 560 ? type : label;
    this.#context.font = `600 10px ${this.#palette.font}`;
    const width = this.#context.measureText(words).width + 12;
    const left = Math.min(x, room - width - 4);
    if (left < this.#labelled) return; // A name here would lie on the one before: its line is enough.
    this.#labelled = left + width + 2;
    this.box({ x: left, y: height - 20, width, height: 16 }, colour, 4);
    this.text(words, left + 6, height - 11.5, { colour: panel, font: "600 10px" });
  }
}
