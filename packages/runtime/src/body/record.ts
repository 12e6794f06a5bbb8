/**
 * The contract between the run of a body and its scope, and the recording of the run's requests. The requests of a call
 * form a queue: each is recorded before the next is looked at. A request that the core rejects is recorded too, with the
 * rejection as its answer, so that each run hears the same.
 */
import {
  type Ask,
  type CallRef,
  type EventOf,
  type Rejection,
  type RejectionCode,
  type State,
  ask,
} from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import type { Told } from "../scope/deferred-event.ts";
import type { ScopeRunner } from "../scope/runner.ts";
import {
  type EffectResult,
  type EffectSpec,
  type StepError,
  awaitedEffects,
  bodyOf,
  hasRule,
} from "@pawl/sansio-core/driver";
import type { Patience } from "./stop.ts";
import type { Platform } from "../platform.ts";
import type { Divergence } from "./divergence.ts";
import type { Place } from "./replay.ts";
import type { Try, TryTerms } from "./step-work.ts";
import { type HostRequest, triggerRequest } from "../host/host-request.ts";

export interface RunId {
  readonly call: string;
  readonly attempt: number;
  readonly run: number;
}

export interface Request {
  readonly key: string;
  readonly hash: string;
  readonly effect: EffectSpec;
  /** The work of a step, in one of its tries. */
  readonly perform?: Work | undefined;
  /** Set for a step that has a time of its own, or more tries than one. */
  readonly terms?: TryTerms;
  /** Set for a step that only waits: the end of its body does not wait with it. */
  readonly isWait?: boolean;
}

/** `tried`: which try it is, where that is not the only one. */
export type Work = (tried?: Try) => EffectResult | Promise<EffectResult>;

/** Returns whether a request makes something run outside of its body, whose end it may hold back. */
const isOutside = ({ effect: { kind }, isWait }: Request): boolean =>
  isWait !== true && (kind === "step" || kind === "host" || kind === "trigger" || kind === "batch");

/** Returns whether the end of a call's body waits for any of these requests. What has settled is about to be answered. */
export const isAwaiting = (state: State, call: string, requests: Iterable<{ readonly request: Request }>): boolean => {
  const row = state.calls.at(call);
  const open = row === undefined ? [] : (bodyOf(row)?.open ?? []);
  const awaited = new Set(awaitedEffects(state, call));
  const idle = new Set(open.map(({ key }) => key).filter((key) => !awaited.has(key)));
  return [...requests].some(({ request }) => isOutside(request) && !idle.has(request.key));
};

/** Names what a body leaves that ends now; undefined where its end waits for no effects. */
export const leftBy = (state: State, call: string): readonly string[] | undefined => {
  const row = state.calls.at(call);
  const waits = hasRule(state.scope.protocol, "waits_for_effects") && row?.phase === "running";
  return waits && row.cancelled === undefined ? awaitedEffects(state, call) : undefined;
};

/** Answers a step that may run once, and began in a run that was lost. */
export const unknownOutcome: EffectResult = {
  status: "err",
  error: { code: "step_outcome_unknown", message: "the step began, and its owner was lost before it was recorded" },
};

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
  readonly settle: (run: RunId, key: string, result: EffectResult, tried: number) => void;
  /** Records that a try has failed, and that another follows. */
  readonly failed: (run: RunId, key: string, tried: number, error: StepError, retryInMs: number) => void;
  /** Records that the outcome of a step is unknown, behind the requests before it. */
  readonly unknown: (run: RunId, key: string) => void;
  /** Tells whether the end of the run's body waits for any of these requests, which have no answer. */
  readonly awaits: (run: RunId, requests: Iterable<{ readonly request: Request }>) => boolean;
  /** Returns how long it does; undefined where the protocol has bodies end at once. */
  readonly effectsMs: () => number | undefined;
  /** Cancels the wait under this key. */
  readonly leave: (run: RunId, key: string) => void;
  /** Records that all clean-ups after a cancel are done. */
  readonly cleanedUp: (run: RunId) => void;
  readonly diverge: (run: RunId, position: number, divergence: Divergence) => void;
  /** Returns true while a request of the run waits to be recorded. */
  readonly isHeld: (run: RunId) => boolean;
  /** Returns true if a deadline of the scope has passed that no event says yet. */
  readonly isDue: () => boolean;
  /** Suspends the run, if it only waits. */
  readonly suspend: (run: RunId) => void;
  readonly platform: Platform;
  readonly patience: Patience;
}

/** Rejections that mean that the run is over, or its scope moved: nobody is left to answer. */
const isOver: ReadonlySet<RejectionCode> = new Set([
  "call_unknown",
  "call_ended",
  "wrong_phase",
  "stale_run",
  "stale_attempt",
  "scope_is_moving",
  "scope_has_moved",
]);

/** `later` means that its link is full and it is to be tried again; a promise, that its values are being stored. */
type Now = "done" | "later";
type Put = Now | Promise<Now>;
type Outcome = E.Either<Rejection, Told>;

/** Follows an event that may still wait for its values to be stored. An abandoned scope leaves nothing to do. */
const putBy = (told: Outcome, rejected: (rejection: Rejection) => Put): Put => {
  if (E.isLeft(told)) return rejected(told.left);
  const { later } = told.right;
  return later === undefined
    ? "done"
    : later.then((outcome) => (outcome === undefined ? "done" : putBy(outcome, rejected)));
};

const refuse = (runner: ScopeRunner, asked: EventOf<"effect.requested">, { code, message }: Rejection): Put =>
  putBy(runner.apply({ ...asked, refused: { code, message } }), (rejection) => {
    runner.abandon(`what call \`${asked.call}\` asks under \`${asked.key}\` fits nowhere: ${rejection.message}`);
    return "done";
  });

/** Records a request, or the rejection of it. */
export const recordRequest = (runner: ScopeRunner, id: RunId, { key, hash, effect }: Request): Put => {
  const asked = { type: "effect.requested", ...id, key, hash, effect } as const;
  return putBy(runner.apply(asked), (rejection) => {
    if (rejection.code === "link_full") return "later";
    return isOver.has(rejection.code) || runner.isAbandoned ? "done" : refuse(runner, asked, rejection);
  });
};

/** Records the end of a body. While its values were stored a call below may have begun again: then the scope is lost. */
export const recordEnd = async (
  runner: ScopeRunner,
  event: EventOf<"call.settled" | "call.continued">,
): Promise<void> => {
  let told: Outcome | undefined = runner.apply(event);
  while (told !== undefined && E.isRight(told) && told.right.later !== undefined) told = await told.right.later;
  if (told !== undefined && E.isLeft(told) && told.left.code === "effects_open")
    runner.abandon(`the end of a body was refused: ${told.left.message}`);
};

/** The queue of one call. */
class Line {
  readonly #puts: (() => Put)[];
  readonly #emptied: (line: Line) => void;
  #isStoring = false;

  constructor(first: () => Put, emptied: (line: Line) => void) {
    this.#puts = [first];
    this.#emptied = emptied;
  }

  add(put: () => Put): void {
    this.#puts.push(put);
  }

  /** Drops all that is queued. */
  leave(): void {
    this.#puts.length = 0;
  }

  /** Records one after the other, until one has to wait. */
  goOn(): void {
    if (this.#isStoring) return;
    for (let next = this.#puts[0]; next !== undefined; next = this.#puts[0]) if (!this.took(next())) return;
    this.#emptied(this);
  }

  /** Takes the outcome of the first; returns true if it is done, and the next may be recorded. */
  took(put: Put): boolean {
    if (put === "done") this.#puts.shift();
    else if (put !== "later") this.#store(put);
    return put === "done";
  }

  #store(stored: Promise<Now>): void {
    this.#isStoring = true;
    void stored.then((put) => {
      this.#isStoring = false;
      if (this.took(put)) this.goOn();
    });
  }
}

/** Records requests in the order in which each body makes them; a log in another order could not be replayed. */
export class RequestQueue {
  /** The queues of calls that wait for room on a link, or for values to be stored. */
  readonly #lines = new Map<string, Line>();

  ask(call: string, put: () => Put): void {
    const known = this.#lines.get(call);
    if (known !== undefined) return known.add(put);
    const begun = put();
    if (begun === "done") return;
    const line = new Line(put, (emptied) => this.#lines.get(call) === emptied && this.forget(call));
    this.#lines.set(call, line);
    line.took(begun);
  }

  /** Returns true while a request of this call is not recorded. */
  has(call: string): boolean {
    return this.#lines.has(call);
  }

  /** Tries again what found its link full. */
  again(): void {
    for (const line of this.#lines.values()) line.goOn();
  }

  /** Drops the requests of a call whose body is over. */
  forget(call: string): void {
    this.#lines.get(call)?.leave();
    this.#lines.delete(call);
  }

  forgetAll(): void {
    for (const call of this.#lines.keys()) this.forget(call);
  }
}

/** Returns the host request behind a request of a body, if there is one. */
const hostRequestOf = ({ call, attempt, run }: RunId, { key, effect }: Request): HostRequest | undefined => {
  if (effect.kind !== "host" && effect.kind !== "trigger") return undefined;
  const name = effect.kind === "host" ? effect.name : triggerRequest;
  return { type: "host.request", call: call as CallRef, attempt, run, key, name, input: effect.input };
};

/** Decides a request of a body. Its host is asked again for what an earlier run was not answered: it may have forgotten. */
export const askAs = (state: State, id: RunId, request: Request, askHost: (request: HostRequest) => void): Ask => {
  const { key, hash, effect } = request;
  const verdict = ask(state, { ...id, key, kind: effect.kind, hash });
  const asked = verdict.type === "join" ? hostRequestOf(id, request) : undefined;
  if (asked !== undefined) askHost(asked);
  return verdict;
};
