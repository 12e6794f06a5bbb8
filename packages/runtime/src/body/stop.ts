/**
 * How a body is told to stop. A cancel aborts the signal of the work that it has begun; what it asks for afterwards, to
 * clean up, has a signal of its own, which only the call's end aborts.
 */
import { type ToolResult, cancelled as cancelledResult } from "@pawl/tool-value";
import { EffectError } from "../error.ts";
import type { Platform } from "../platform.ts";
import { type Place, isEarlier } from "./replay.ts";

/** Made once, without a stack of their own. */
export const ended = new EffectError("call_ended", "the call has ended");
const cancelled = new EffectError("cancelled", "the call was cancelled");

/** Returns the signal's reason, which Node's own functions wrap in an error of theirs. */
export const withoutAbort = (thrown: unknown): unknown => {
  const isAbort = thrown instanceof Error && thrown.name === "AbortError";
  return isAbort && thrown.cause instanceof EffectError ? thrown.cause : thrown;
};

/** The outcome of a body that threw after its signal was aborted. */
export const cancelledOutcome: ToolResult = cancelledResult("tool call cancelled");

/** Recognises the errors with which libraries stop at an aborted signal, each in its own words. */
export const isAbortError = (thrown: unknown): boolean => {
  const reason = withoutAbort(thrown);
  if (reason instanceof EffectError) return reason.code === "cancelled";
  return thrown instanceof Error && /abort|cancel/i.test(`${thrown.name} ${thrown.constructor.name} ${thrown.message}`);
};

/** Makes its signal when it is first asked for: most bodies never do. */
export class LazySignal {
  readonly #parent: LazySignal | undefined;
  #controller: AbortController | undefined;
  #reason: EffectError | undefined;

  /** `parent`: aborts this one with it. */
  constructor(parent?: LazySignal) {
    this.#parent = parent;
  }

  get isAborted(): boolean {
    return this.#reason !== undefined || this.#parent?.isAborted === true;
  }

  abort(reason: EffectError): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.#reason);
  }

  get signal(): AbortSignal {
    this.#controller ??= this.#made();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  #made(): AbortController {
    const controller = new AbortController();
    const parent = this.#parent?.signal;
    const follow = (): void => controller.abort(parent?.reason);
    if (parent?.aborted === true) follow();
    else parent?.addEventListener("abort", follow, { once: true, signal: controller.signal });
    return controller;
  }
}

export class Signals {
  readonly #work = new LazySignal();
  readonly #shielded = new LazySignal();
  #isCancelled = false;

  cancel(): void {
    this.#isCancelled = true;
    this.#work.abort(cancelled);
  }

  end(): void {
    this.#work.abort(ended);
    this.#shielded.abort(ended);
  }

  /** True once the work was told to stop, by a cancel that the body has heard of. */
  get isAborted(): boolean {
    return this.#isCancelled;
  }

  /** Aborted when the call is cancelled, and when it ends. */
  get work(): AbortSignal {
    return this.#work.signal;
  }

  /** Returns the signal for work that begins now. After a cancel only the call's end aborts it. */
  get current(): LazySignal {
    return this.#isCancelled ? this.#shielded : this.#work;
  }
}

/** A cancel on its way to a run: it has a place in the log, as an answer has. */
export class CancelMark {
  #isTold = false;
  #place: Place | undefined;

  enqueue(place: Place): void {
    this.#isTold = true;
    this.#place = place;
  }

  /** True once the call is cancelled, though the run may not have heard it yet. */
  get isTold(): boolean {
    return this.#isTold;
  }

  /** Returns true if it stands before what the run hears next. */
  isDue(next: Place | undefined): boolean {
    return this.#place !== undefined && (next === undefined || isEarlier(this.#place, next));
  }

  /** Aborts the signal of the work. */
  deliver(signals: Signals): true {
    this.#place = undefined;
    signals.cancel();
    return true;
  }
}

export interface CleanUpPort {
  readonly platform: Platform;
  /** Called when all clean-ups are done, if nobody awaits `over`. */
  readonly done: () => void;
}

/** Runs the clean-ups that a body registered. The call's end waits for each, as long as its deadline says. */
export class CleanUps {
  readonly #port: CleanUpPort;
  #asked = 0;
  #done = 0;
  #heard: (() => void) | undefined;

  constructor(port: CleanUpPort) {
    this.#port = port;
  }

  /** Counts one more that is to run when the call is cancelled. */
  ask(): void {
    this.#asked += 1;
  }

  /** Runs one, which does not throw, until it has ended or its time has passed. */
  async run(work: () => Promise<void>, ms: number): Promise<void> {
    let callOff: (() => void) | undefined;
    const passed = new Promise<void>((resolve) => (callOff = this.#port.platform.later(ms, resolve)));
    await Promise.race([work(), passed]);
    callOff?.();
    this.#done += 1;
    if (this.#done < this.#asked) return;
    if (this.#heard === undefined) this.#port.done();
    else this.#heard();
  }

  /** True if none is to be waited for. */
  get areOver(): boolean {
    return this.#done === this.#asked;
  }

  /** Resolves when all are done, or the run is over. */
  over(): Promise<void> {
    if (this.#done === this.#asked) return Promise.resolve();
    return new Promise((resolve) => (this.#heard = resolve));
  }

  end(): void {
    this.#heard?.();
  }
}
