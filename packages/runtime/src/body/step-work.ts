/**
 * The work of steps: most have one try. A step may have more, each with a time of its own.
 *
 *    begin ──▶ work ─┬─ succeeds ────────────▶ settled, also by a try whose time had run out
 *      ▲             ├─ fails, runs out of time, and has a further try ──▶ failed, with the delay
 *      │             └─ fails for the last time ─▶ settled
 *      └────────── the core, once the delay that it counts is over
 *
 * Which try is due is on record; the policy and the clock of a try are not. A crash repeats the try that ran, with all its
 * time before it.
 */
import { type EffectResult, type StepError, type StepRecovery, firstTry, retryDelayMs } from "@pawl/sansio-core/driver";
import { EffectError } from "../error.ts";
import type { InContext, Platform } from "../platform.ts";
import type { BodyPort } from "./body-port.ts";
import { type Request, type RunId, type Work, unknownOutcome } from "./record.ts";
import { LazySignal } from "./stop.ts";

/** How often a step is tried, and how long each try may take. */
export interface TryTerms {
  readonly attempts: number;
  readonly firstDelayMs: number;
  /** Zero: there is no longest delay. */
  readonly maxDelayMs: number;
  readonly timeoutMs?: number;
  readonly recovery: StepRecovery;
  /** Aborted by a cancel: a step that it stopped is not tried again. */
  readonly signal: LazySignal;
}

/** One try, as its work sees it. */
export interface Try {
  readonly number: number;
  readonly signal: LazySignal;
}

interface UnderWay extends Try {
  isOutOfTime: boolean;
  callOff?: () => void;
}

type Port = Pick<BodyPort, "settle" | "failed" | "fail"> & { readonly platform: Pick<Platform, "later"> };

const delayMs = ({ firstDelayMs, maxDelayMs, attempts }: TryTerms, tried: number): number => {
  const terms = {
    type: "safe",
    max_attempts: attempts,
    base_delay_ms: firstDelayMs,
    max_delay_ms: maxDelayMs,
  } as const;
  return Math.min(Number(retryDelayMs(terms, tried - 1, undefined)), Number.MAX_SAFE_INTEGER);
};

const timedOut = (ms: number): StepError => ({
  code: "step_timed_out",
  message: `the step had not ended after ${ms} ms`,
});

const superseded = new EffectError("call_ended", "the step has settled without this try");

/** Does the work of the steps of one run. */
export class StepWork {
  readonly #run: RunId;
  readonly #port: Port;
  readonly #inContext: InContext;
  #isOver = false;
  /** Tries of steps that have more than one, or a time of their own. */
  readonly #underWay = new Map<string, UnderWay[]>();

  constructor(run: RunId, port: Port, inContext: InContext) {
    this.#run = run;
    this.#port = port;
    this.#inContext = inContext;
  }

  /** Performs a step, and records its result while the run is not over. `signal`: aborts what begins now. */
  perform(request: Request, signal: LazySignal, number = firstTry): void {
    const { key, perform } = request;
    if (perform === undefined) return;
    if (request.terms !== undefined || number !== firstTry) return this.#begin(request, perform, signal, number);
    const result = this.#inContext(perform);
    if (result instanceof Promise)
      void result.then((end) => this.#end(key, end, firstTry)).catch((thrown: unknown) => this.#port.fail(thrown));
    else this.#end(key, result, firstTry);
  }

  #end(key: string, result: EffectResult, number: number): void {
    if (!this.#isOver) this.#port.settle(this.#run, key, result, number);
  }

  /** Begins a try, unless this run has begun it. */
  #begin({ key, terms }: Request, perform: Work, parent: LazySignal, number: number): void {
    const tries = this.#underWay.get(key) ?? [];
    if (tries.some((other) => other.number === number)) return;
    const tried: UnderWay = { number, signal: new LazySignal(terms?.signal ?? parent), isOutOfTime: false };
    this.#underWay.set(key, [...tries, tried]);
    const result = this.#inContext(() => perform(tried));
    if (!(result instanceof Promise)) return this.#over(key, terms, tried, result);
    if (terms?.timeoutMs !== undefined) this.#limit(key, terms, tried, terms.timeoutMs);
    void result.then((end) => this.#over(key, terms, tried, end)).catch((thrown: unknown) => this.#port.fail(thrown));
  }

  #limit(key: string, terms: TryTerms, tried: UnderWay, ms: number): void {
    tried.callOff = this.#port.platform.later(ms, () => {
      tried.isOutOfTime = true;
      const error = timedOut(ms);
      tried.signal.abort(new EffectError(error.code, error.message));
      if (terms.recovery === "once") this.#settle(key, unknownOutcome, tried);
      else this.#failed(key, terms, tried, error);
    });
  }

  /** Takes the end of a try. Of one that has run out of time only a success counts. */
  #over(key: string, terms: TryTerms | undefined, tried: UnderWay, result: EffectResult): void {
    tried.callOff?.();
    if (!this.#underWay.has(key)) return;
    if (result.status === "ok") this.#settle(key, result, tried);
    else if (!tried.isOutOfTime) this.#failed(key, terms, tried, result.error);
  }

  #failed(key: string, terms: TryTerms | undefined, tried: UnderWay, error: StepError): void {
    const isLast = terms === undefined || tried.number >= terms.attempts || terms.signal.isAborted;
    if (isLast) this.#settle(key, { status: "err", error }, tried);
    else {
      const { thrown: _, ...short } = error; // What the last one throws is kept.
      this.#port.failed(this.#run, key, tried.number, short, delayMs(terms, tried.number));
    }
  }

  /** Settles the step, and stops its other tries. */
  #settle(key: string, result: EffectResult, tried: Try): void {
    for (const other of this.#underWay.get(key) ?? []) {
      other.callOff?.();
      if (other !== tried) other.signal.abort(superseded);
    }
    this.#underWay.delete(key);
    this.#end(key, result, tried.number);
  }

  /** Stops the clocks of all tries. Their signals end with the run. */
  end(): void {
    this.#isOver = true;
    for (const tries of this.#underWay.values()) for (const { callOff } of tries) callOff?.();
    this.#underWay.clear();
  }
}
