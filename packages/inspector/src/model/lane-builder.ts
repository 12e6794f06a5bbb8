/** Builds the lanes and spans of a timeline while a log is replayed, and hands out what has changed since the last time. */
export type LaneKind = "call" | "task" | "schedule" | "process";

export interface Lane {
  readonly id: number;
  readonly kind: LaneKind;
  /** The id of the call, task, schedule or process. */
  readonly key: string;
  readonly title: string;
  /** The depth below the calls whose bodies made it. */
  readonly depth: number;
  readonly born: number;
  /** The most effects of the lane that were open at the same time. */
  readonly tracks: number;
}

export type SpanEnd = "ok" | "err" | "cancelled" | "lost" | "abandoned";

export interface Span {
  readonly id: number;
  readonly lane: number;
  /** 0 for the phases of the lane itself, from 1 on for its effects. */
  readonly track: number;
  /** The phase of the call, or the kind of the effect. */
  readonly kind: string;
  readonly label: string;
  readonly from: number;
  /** The event that ended it. */
  readonly to?: number;
  readonly end?: SpanEnd;
}

export interface Mark {
  readonly seq: number;
  readonly type: "opened" | "owner" | "crash" | "forked" | "lost" | "moved" | "fault";
  readonly label: string;
}

export const isCrash = ({ type }: Mark): boolean => type === "crash" || type === "lost" || type === "fault";

type Writable<A> = { -readonly [K in keyof A]: A[K] };

export interface LaneUpdate {
  readonly lanes: readonly Lane[];
  readonly spans: readonly Span[];
  readonly marks: readonly Mark[];
}

/** Builds lanes, spans and marks as events come, and gives out what has changed since the last time. */
export class LaneBuilder {
  readonly lanes: Writable<Lane>[] = [];
  readonly spans: Writable<Span>[] = [];
  readonly marks: Mark[] = [];
  readonly #laneOf = new Map<string, number>();
  /** The open spans of each lane, by name. */
  readonly #open = new Map<number, Map<string, Writable<Span>>>();
  /** The tracks in use of each lane. */
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

  /** Opens a span under a name. The empty name is the span of the lane itself. */
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

  /** Returns the changes since the last update. */
  takeUpdate(): LaneUpdate {
    const update = {
      lanes: [...this.#newLanes].map((id) => ({ ...(this.lanes[id] as Lane) })),
      spans: [...this.#newSpans].map((id) => ({ ...(this.spans[id] as Span) })),
      marks: this.marks.slice(this.#newMarks),
    };
    this.#newLanes = new Set();
    this.#newSpans = new Set();
    this.#newMarks = this.marks.length;
    return update;
  }
}
