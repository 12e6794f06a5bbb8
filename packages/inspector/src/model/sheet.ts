/** Lanes and spans while a log is folded: what is new in them is taken off from time to time by whoever shows them. */
import type { Lane, LaneKind, Mark, Span, SpanEnd } from "./lane.ts";

type Writable<A> = { -readonly [K in keyof A]: A[K] };

export interface SheetNews {
  readonly lanes: readonly Lane[];
  readonly spans: readonly Span[];
  readonly marks: readonly Mark[];
}

/** Holds a log, its forks and its search for the element, in a worker or in the page's thread. */
export class Sheet {
  readonly lanes: Writable<Lane>[] = [];
  readonly spans: Writable<Span>[] = [];
  readonly marks: Mark[] = [];
  readonly #laneOf = new Map<string, number>();
  /** The open spans of a lane by their names. */
  readonly #open = new Map<number, Map<string, Writable<Span>>>();
  /** For each lane, which of its tracks are taken. */
  readonly #taken = new Map<number, boolean[]>();
  #newLanes = new Set<number>();
  #newSpans = new Set<number>();
  #newMarks = 0;

  laneAt(kind: LaneKind, key: string): Lane | undefined {
    const id = this.#laneOf.get(`${kind} ${key}`);
    return id === undefined ? undefined : this.lanes[id];
  }

  addLane(of: Pick<Lane, "kind" | "key" | "title" | "depth" | "born">): Lane {
    const lane = { id: this.lanes.length, tracks: 0, ...of };
    this.lanes.push(lane);
    this.#laneOf.set(`${of.kind} ${of.key}`, lane.id);
    this.#open.set(lane.id, new Map());
    this.#taken.set(lane.id, [true]);
    this.#newLanes.add(lane.id);
    return lane;
  }

  /** Opens a span under a name of its own: that of the lane itself is the empty one. */
  openSpan({ id: lane }: Lane, name: string, of: Pick<Span, "kind" | "label" | "from">): void {
    const track = name === "" ? 0 : this.#takeTrack(lane);
    const span: Writable<Span> = { id: this.spans.length, lane, track, ...of };
    this.spans.push(span);
    this.#open.get(lane)?.set(name, span);
    this.#newSpans.add(span.id);
  }

  isOpen({ id }: Lane, name: string): boolean {
    return this.#open.get(id)?.has(name) === true;
  }

  closeSpan({ id: lane }: Lane, name: string, to: number, end: SpanEnd | undefined): void {
    const span = this.#open.get(lane)?.get(name);
    if (span === undefined) return;
    span.to = to;
    if (end !== undefined) span.end = end;
    this.#open.get(lane)?.delete(name);
    const taken = this.#taken.get(lane);
    if (span.track > 0 && taken !== undefined) taken[span.track] = false;
    this.#newSpans.add(span.id);
  }

  /** All that is open in a lane, but for the lane's own span. */
  closeEffects(lane: Lane, to: number, end: SpanEnd): void {
    const names = [...(this.#open.get(lane.id)?.keys() ?? [])];
    for (const name of names) if (name !== "") this.closeSpan(lane, name, to, end);
  }

  mark(mark: Mark): void {
    this.marks.push(mark);
  }

  #takeTrack(id: number): number {
    const taken = this.#taken.get(id) ?? [true];
    const free = taken.indexOf(false);
    const track = free === -1 ? taken.length : free;
    taken[track] = true;
    const lane = this.lanes[id];
    if (lane !== undefined && track > lane.tracks) {
      lane.tracks = track;
      this.#newLanes.add(id);
    }
    return track;
  }

  /** What is new since the last time. */
  takeNews(): SheetNews {
    const news = {
      lanes: [...this.#newLanes].map((id) => ({ ...(this.lanes[id] as Lane) })),
      spans: [...this.#newSpans].map((id) => ({ ...(this.spans[id] as Span) })),
      marks: this.marks.slice(this.#newMarks),
    };
    this.#newLanes = new Set();
    this.#newSpans = new Set();
    this.#newMarks = this.marks.length;
    return news;
  }
}
