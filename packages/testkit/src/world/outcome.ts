/** What came of one run of a world. */
import type { JournalLine } from "@pawl/runtime";
import { type Json, describe, noLimits, parse } from "@pawl/tool-value";
import type { Happened } from "./ledger.ts";
import type { LostBody } from "./audit.ts";
import { type Moment, type Fate, describeMoment } from "./moment.ts";
import type { Claim } from "./scenario.ts";
import { type Event, recordedOf } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";

/** What befell a run, at which of its moments. */
export interface Blow {
  readonly n: number;
  readonly fate: Fate;
  readonly moment: Moment;
}

/** `failed`: a call ended in an internal error, though nothing disturbed it. */
export type Harm = "lost" | "doubled" | "other_result" | "diverged" | "failed" | Exclude<Ended, "done">;

/** What a harm came of, where it takes another remedy than others of its kind. */
export type Cause = "not_run_again";

export interface Violation {
  readonly harm: Harm;
  /** The effect or the call that it is about, if it is about one. */
  readonly of?: string;
  readonly blows: readonly Blow[];
  readonly message: string;
  readonly cause?: Cause;
}

export interface Run {
  readonly blows: readonly Blow[];
  readonly outcome: Outcome;
}

const describeBlow = ({ n, fate, moment }: Blow): string =>
  `${fate === "die" ? "died" : fate} at ${n}, ${describeMoment(moment)}`;

/** Puts into words how a run was disturbed. */
export const describeBlows = (blows: readonly Blow[]): string =>
  blows.length === 0 ? "undisturbed" : blows.map(describeBlow).join("; then ");

export const eventOf = ({ seq, line }: JournalLine): Event => {
  const recorded = E.chain(recordedOf)(parse(line, noLimits));
  if (E.isLeft(recorded)) throw new TypeError(`line ${seq} of a log: ${describe(recorded.left)}`);
  return recorded.right.event;
};

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
