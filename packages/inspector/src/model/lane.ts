/** What a timeline shows: lanes, one a call or piece of long work; spans in them; and marks across all of them. */
export type LaneKind = "call" | "task" | "schedule" | "process";

export interface Lane {
  readonly id: number;
  readonly kind: LaneKind;
  /** The call, task, schedule or process that it is of. */
  readonly key: string;
  readonly title: string;
  /** How deep it stands below the calls whose bodies made it. */
  readonly depth: number;
  readonly born: number;
  /** How many of its effects are under way beside each other at most. */
  readonly tracks: number;
}

export type SpanEnd = "ok" | "err" | "cancelled" | "lost" | "left";

export interface Span {
  readonly id: number;
  readonly lane: number;
  /** 0: what the lane itself is in; from 1 on its effects. */
  readonly track: number;
  /** A phase of the call, or the kind of an effect. */
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

/** Whether a mark is of what went wrong. */
export const isTrouble = ({ type }: Mark): boolean => type === "crash" || type === "lost" || type === "fault";
