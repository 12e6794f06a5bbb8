/** The contract between the run of a body and its scope: requests, answers, and what the scope does for the run. */
import type { Ask } from "@pawl/sansio-core";
import type { EffectResult, EffectSpec } from "@pawl/sansio-core/driver";
import type { Patience } from "./stop.ts";
import type { Platform } from "../platform.ts";
import type { Place } from "./replay-order.ts";

export interface RunId {
  readonly call: string;
  readonly attempt: number;
  readonly run: number;
}

export interface Request {
  readonly key: string;
  readonly hash: string;
  readonly effect: EffectSpec;
  /** The work of a step. */
  readonly perform?: (() => EffectResult | Promise<EffectResult>) | undefined;
}

export interface Answer extends Place {
  readonly key: string;
  readonly at: number;
  readonly result: EffectResult;
  /** The key that won a select. */
  readonly winner: string | undefined;
}

export interface BodyPort {
  /** Asks for a turn, in which answers are delivered. */
  readonly schedule: () => void;
  /** Abandons the scope, whose interpreter has failed. */
  readonly fail: (thrown: unknown) => void;
  /** Returns true while this process owns the scope. */
  readonly mayAct: () => boolean;
  readonly ask: (run: RunId, request: Request) => Ask;
  readonly record: (run: RunId, request: Request) => void;
  readonly reuse: (run: RunId, key: string) => void;
  readonly settle: (run: RunId, key: string, result: EffectResult) => void;
  /** Cancels the wait under this key. */
  readonly leave: (run: RunId, key: string) => void;
  /** Records that all clean-ups after a cancel are done. */
  readonly cleanedUp: (run: RunId) => void;
  readonly diverge: (run: RunId, position: number, expected: string, found: string) => void;
  /** Returns true while a request of the run waits to be recorded. */
  readonly isHeld: (run: RunId) => boolean;
  /** Returns true if a deadline of the scope has passed that no event says yet. */
  readonly isDue: () => boolean;
  /** Suspends the run, if it only waits. */
  readonly suspend: (run: RunId) => void;
  readonly platform: Platform;
  readonly patience: Patience;
}
