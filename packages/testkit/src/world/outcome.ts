/** What came of one run of a world. */
import type { JournalLine } from "@pawl/runtime";
import type { Json } from "@pawl/tool-value";
import type { Happened } from "./ledger.ts";
import type { LostBody } from "./lost-body.ts";
import type { Moment } from "./moment.ts";
import type { Claim } from "./scenario.ts";

export type Ended = "done" | "stuck" | "exhausted" | "left_the_world" | "broken" | "host_failed";

/** How a run of a scenario went. */
export interface Outcome {
  readonly ended: Ended;
  /** Why it did not come to its end. */
  readonly why: string | undefined;
  /** What the host came to. */
  readonly result: Json | undefined;
  readonly moments: readonly Moment[];
  readonly deaths: number;
  readonly effects: ReadonlyMap<string, number>;
  readonly happened: readonly Happened[];
  readonly claims: ReadonlyMap<string, Claim>;
  /** What calls threw that their model is not shown, the last of each. */
  readonly threw: ReadonlyMap<string, string>;
  /** What was under way when its process was lost, and is not run again. */
  readonly lostBodies: readonly LostBody[];
  readonly elapsedMs: number;
  readonly logs: ReadonlyMap<string, readonly JournalLine[]>;
}
