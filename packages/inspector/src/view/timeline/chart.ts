/** The data of the timeline: the lanes with their spans, and a query for the ones in view. */
import type { LogUpdate } from "../../worker/message.ts";
import type { Entry } from "../../model/entry.ts";
import { type Lane, type Mark, type Span, isCrash } from "../../model/lane-builder.ts";

interface Row {
  lane: Lane;
  readonly spans: Span[];
  readonly placeOf: Map<number, number>;
  /** The last event of its closed spans. A lane with an open span reaches to the end. */
  to: number;
  open: number;
}

export interface VisibleRow {
  readonly lane: Lane;
  readonly spans: readonly Span[];
}

export class Chart {
  readonly entries: Entry[] = [];
  readonly marks: Mark[] = [];
  /** The marks of crashes, losses and faults. */
  readonly crashes: Mark[] = [];
  readonly #rows: Row[] = [];
  /** Set if some marks have labels below the lanes. */
  hasNamedMarks = false;
  last = 0;
  base = 0;

  take({ header, entries, lanes, spans, marks, last }: LogUpdate): void {
    this.base = header?.base ?? 0;
    for (const entry of entries) this.entries.push(entry);
    for (const mark of marks) {
      this.marks.push(mark);
      if (isCrash(mark)) this.crashes.push(mark);
      if (mark.type !== "opened") this.hasNamedMarks = true;
    }
    for (const lane of lanes) {
      const row = this.#rows[lane.id];
      if (row === undefined) this.#rows[lane.id] = { lane, spans: [], placeOf: new Map(), to: lane.born, open: 0 };
      else row.lane = lane;
    }
    for (const span of spans) this.#put(span);
    this.last = last;
  }

  #put(span: Span): void {
    const row = this.#rows[span.lane];
    if (row === undefined) return;
    const place = row.placeOf.get(span.id);
    const before = place === undefined ? undefined : row.spans[place];
    if (place === undefined) {
      row.placeOf.set(span.id, row.spans.length);
      row.spans.push(span);
    } else row.spans[place] = span;
    if (before === undefined || before.to === undefined) {
      if (span.to === undefined && before === undefined) row.open += 1;
      if (span.to !== undefined && before !== undefined) row.open -= 1;
    }
    row.to = Math.max(row.to, span.to ?? span.from);
  }

  entryAt(seq: number): Entry | undefined {
    return this.entries[seq - this.base - 1];
  }

  get hasLanes(): boolean {
    return this.#rows.length > 0;
  }

  /** Returns the lanes with spans between two events; if a call is chosen, its lane alone. */
  between(from: number, to: number, only: string | undefined): readonly VisibleRow[] {
    return this.#rows.filter(
      (row) => row.lane.born <= to && (row.open > 0 || row.to >= from) && (only === undefined || row.lane.key === only),
    );
  }

  /** Returns the next crash or fault after an event, and the first one after the last. */
  nextMark(seq: number): Mark | undefined {
    return this.crashes.find((mark) => mark.seq > seq) ?? this.crashes[0];
  }
}
