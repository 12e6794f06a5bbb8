/** The outcome of one run, the faults that hit it, and the violations found. */
import type { JournalLine } from "@pawl/runtime/driver";
import { type Json, describe, noLimits, parse } from "@pawl/tool-value";
import type { Happened } from "./ledger.ts";
import type { LostBody } from "./audit.ts";
import { type Moment, type Fate, describeMoment } from "./moment.ts";
import type { Claim } from "./scenario.ts";
import { type Event, recordedOf } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";

/** A fault that hit a run, and its moment. */
export interface Blow {
  readonly n: number;
  readonly fate: Fate;
  readonly moment: Moment;
}

/** `failed`: a call ended in an internal error without any fault. */
export type Harm = "lost" | "doubled" | "other_result" | "diverged" | "failed" | Exclude<Ended, "done">;

/** A cause that needs its own remedy. */
export type Cause = "not_run_again";

export interface Violation {
  readonly harm: Harm;
  /** The effect or call that it is about, if any. */
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
  const recorded = pipe(parse(line, noLimits), E.chain(recordedOf));
  if (E.isLeft(recorded)) throw new TypeError(`line ${seq} of a log: ${describe(recorded.left)}`);
  return recorded.right.event;
};

export type Ended = "done" | "stuck" | "exhausted" | "left_the_world" | "broken" | "host_failed";

/** The outcome of a scenario's run. */
export interface Outcome {
  readonly ended: Ended;
  /** Why it did not reach its end. */
  readonly why: string | undefined;
  /** The host's result. */
  readonly result: Json | undefined;
  readonly moments: readonly Moment[];
  readonly deaths: number;
  readonly effects: ReadonlyMap<string, number>;
  readonly happened: readonly Happened[];
  readonly claims: ReadonlyMap<string, Claim>;
  /** The last internal error of each call. */
  readonly threw: ReadonlyMap<string, string>;
  /** Bodies that were lost with their process and are not run again. */
  readonly lostBodies: readonly LostBody[];
  readonly elapsedMs: number;
  readonly logs: ReadonlyMap<string, readonly JournalLine[]>;
}
