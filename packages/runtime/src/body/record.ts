/**
 * The contract between the run of a body and its scope, and the recording of the run's requests. The requests of a call
 * form a queue: each is recorded before the next is looked at. A request that the core rejects is recorded too, with the
 * rejection as its answer, so that each run hears the same.
 *
 * With the next event of a run go the answers of `ctx.patched`, which lets new code live beside its older self. There is one
 * answer for each name in a life: the one on record; else false while the run has yet to ask for something on record, for it
 * then repeats what older code did; else true. An answer has no place of its own in the order of the log.
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
import type { Json } from "@pawl/tool-value";
import type { Told } from "../scope/offload.ts";
import type { ScopeRunner } from "../scope/runner.ts";
import type { EffectResult, EffectSpec, Patches } from "@pawl/sansio-core/driver";
import type { Place, RecordedRun } from "./replay.ts";
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
  /** Set for a stream: takes what it says before it ends. */
  readonly part?: (part: StreamPart) => void;
  /** Set for a step that only waits: the end of its body does not wait with it. */
  readonly isWait?: boolean;
}

/** `tried`: which try it is, where that is not the only one. */
export type Work = (tried?: Try) => EffectResult | Promise<EffectResult>;

/** Answers a step that may run once, and began in a run that was lost. */
export const unknownOutcome: EffectResult = {
  status: "err",
  error: { code: "step_outcome_unknown", message: "the step began, and its owner was lost before it was recorded" },
};

/** Carries a part of a stream to a body: chunks that are on record now, or word that the producer began anew. */
export type StreamPart = { readonly type: "said"; readonly chunks: readonly Json[] } | { readonly type: "restarted" };

export interface Answer extends Place {
  readonly key: string;
  readonly at: number;
  readonly result: EffectResult;
  /** The key that won a select. */
  readonly winner: string | undefined;
  /** A part of the answer under this other key, which stays open. */
  readonly part?: StreamPart & { readonly of: string };
  /** For a stream, where its parts were not handed one by one. */
  readonly chunks?: readonly Json[] | undefined;
}

/** A request that has no answer yet, and who is told of it. */
export interface Waiting {
  readonly request: Request;
  readonly told: ((answer: Answer) => void)[];
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

/** The scope to which no more messages go for now: the request is tried again when one was answered. */
interface Full {
  readonly link: string;
}

/** A promise means that its values are being stored. */
type Now = "done" | Full;
type Put = Now | Promise<Now>;
export type Outcome = E.Either<Rejection, Told>;

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
export const recordRequest = (
  runner: ScopeRunner,
  { call, attempt, run }: RunId,
  { key, hash, effect }: Request,
  patched: Patches | undefined,
): Put => {
  const asked = withPatches({ type: "effect.requested", call, attempt, run, key, hash, effect } as const, patched);
  return putBy(runner.apply(asked), (rejection) => {
    if (rejection.code === "link_full" && effect.kind === "message") return { link: effect.to };
    return isOver.has(rejection.code) || runner.isAbandoned ? "done" : refuse(runner, asked, rejection);
  });
};

/** The queue of one call. */
class Line {
  readonly #puts: (() => Put)[];
  readonly #emptied: (line: Line) => void;
  #isStoring = false;
  /** The link that has no room for the first of them. */
  #link: string | undefined;

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
    this.#link = undefined;
    if (put === "done") this.#puts.shift();
    else if ("link" in put) this.#link = put.link;
    else this.#store(put);
    return put === "done";
  }

  get link(): string | undefined {
    return this.#link;
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

  /** Returns the link that has no room for the next request of this call. */
  linkOf(call: string): string | undefined {
    return this.#lines.get(call)?.link;
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

/** Adds the answers that go with an event to it. */
export const withPatches = <E extends object>(event: E, patched: Patches | undefined): E =>
  patched === undefined ? event : { ...event, patched };

export class PatchAnswers {
  readonly #recorded: Patches;
  readonly #isAsked: (key: string) => boolean;
  /** The record of this life. */
  readonly #keys: readonly string[];
  /** So many of them, from the first on, may still have to be asked for. */
  #left: number;
  readonly #answers = new Map<string, boolean>();
  #unsaid: { [name: string]: boolean } | undefined;

  constructor({ patches, keys }: Pick<RecordedRun, "patches" | "keys">, isAsked: (key: string) => boolean) {
    this.#recorded = patches;
    this.#keys = keys;
    this.#left = keys.length;
    this.#isAsked = isAsked;
  }

  /** True once the run has asked for all that is on record. */
  get #isNew(): boolean {
    while (this.#left > 0 && this.#isAsked(this.#keys[this.#left - 1] as string)) this.#left -= 1;
    return this.#left === 0;
  }

  answer(name: string): boolean {
    const known = Object.hasOwn(this.#recorded, name) ? this.#recorded[name] : this.#answers.get(name);
    if (known !== undefined) return known;
    const answer = this.#isNew;
    this.#answers.set(name, answer);
    this.#unsaid = { ...this.#unsaid, [name]: answer };
    return answer;
  }

  /** Returns what the run was told since its last event. */
  take(): Patches | undefined {
    const unsaid = this.#unsaid;
    this.#unsaid = undefined;
    return unsaid;
  }
}
