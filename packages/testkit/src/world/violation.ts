/** What befell a run, and what harm came of it. */
import { type Fate, type Moment, describeMoment } from "./moment.ts";
import type { Ended, Outcome } from "./outcome.ts";

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

export const describeBlows = (blows: readonly Blow[]): string =>
  blows.length === 0 ? "undisturbed" : blows.map(describeBlow).join("; then ");
