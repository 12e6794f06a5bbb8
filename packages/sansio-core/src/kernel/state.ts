/** The state of a scope: opaque, persistent, and a pure function of its log. Each concern has its rows in it. */
import type { State } from "../concerns.ts";

export type { State };

/** The place and time of the last event; the next one stands at `seq + 1`. */
export interface Place {
  readonly seq: number;
  readonly at: number;
}
