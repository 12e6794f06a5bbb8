/** What a run of a body is known by, what it asks for and hears, and what its scope does for it. */
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

/** What a body's request is known by. */
export interface Request {
  readonly key: string;
  readonly hash: string;
  readonly effect: EffectSpec;
  /** Of a step: the work itself. */
  readonly perform?: (() => EffectResult | Promise<EffectResult>) | undefined;
}

/** An answer on its way to the body. */
export interface Answer extends Place {
  readonly key: string;
  readonly at: number;
  readonly result: EffectResult;
  /** Of a select: the key that won. */
  readonly winner: string | undefined;
}

/** What the body's scope does for it. */
export interface BodyPort {
  /** Asks for a turn: there may be something to deliver. */
  readonly schedule: () => void;
  /** Abandons the scope: its interpreter has failed. */
  readonly fail: (thrown: unknown) => void;
  /** Whether this process still is the one that works here. */
  readonly mayAct: () => boolean;
  readonly ask: (run: RunId, request: Request) => Ask;
  readonly record: (run: RunId, request: Request) => void;
  readonly reuse: (run: RunId, key: string) => void;
  readonly settle: (run: RunId, key: string, result: EffectResult) => void;
  /** The body waits no longer under this key. */
  readonly leave: (run: RunId, key: string) => void;
  /** All that was to be done after a cancel is done. */
  readonly cleanedUp: (run: RunId) => void;
  readonly diverge: (run: RunId, position: number, expected: string, found: string) => void;
  /** Whether something that it asked for waits to be recorded. */
  readonly isHeld: (run: RunId) => boolean;
  /** Whether time is about to answer somebody of the scope. */
  readonly isDue: () => boolean;
  /** The body has asked nothing for a while: it may be dropped, if all that it waits for is waits. */
  readonly suspend: (run: RunId) => void;
  readonly platform: Platform;
  readonly patience: Patience;
}
