/**
 * The parts that the facets of `ctx` share: the facts of a call, and how durable effects are asked for. Facts are its names,
 * what it may do where it stands, and what its scope does for it. Each effect has a
 * key that repeats when the program repeats, so that its record is found again: the n-th use of a name in a run has the
 * n-th key of that name.
 */
import {
  type EffectResult,
  type EffectSpec,
  type ProcessEvent,
  type SignalPlace,
  EffectSpecCodec,
} from "@pawl/sansio-core/driver";
import {
  type Json,
  type ToolCallOutput,
  describe,
  jsonFromJs,
  readOwned,
  record,
  stableHash,
  string,
  stringify,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { BodyRun } from "../body-run.ts";
import type { Redaction } from "../redaction.ts";
import { rejectAt, showOwnLines, type Durable, type Failures, EffectPromise, unlooked } from "./durable.ts";
import type { Answer, Request, Work } from "../record.ts";
import { EffectError } from "../../error.ts";
import type { CallRef, Event, State, CommandOf } from "@pawl/sansio-core";
import type { NestedCall } from "../../host/hook.ts";
import type { AttachmentStore } from "../../journal/blob.ts";
import type { SessionWork } from "../../process/run/session-work.ts";
import type { Producer } from "../../stream/producer.ts";
import type { LiveTool, PrepareContext } from "../../tool/live-tool.ts";
import type { ProgressMessage } from "../../session/observe/observation.ts";
import type { ToolContext } from "./context.ts";
import type { Capabilities } from "./capability.ts";

type Execute = CommandOf<"tool.execute">;

/** A run of a body, as those who show what it says see it. */
export interface LiveRun {
  readonly isOver: boolean;
  /** True until all that is on record of its attempt has happened again. */
  readonly isRepeating: boolean;
  readonly redaction: Redaction | undefined;
}

/** Connects a call to its scope and to the processes of that scope. */
export interface ProcessApi {
  readonly state: () => State;
  /** Applies an event to the scope; an event that does not fit comes back as an error. */
  readonly apply: (event: Event) => EffectResult;
  /** The background runs, tasks and schedules of a session. */
  readonly work: SessionWork;
  /** Resolves to true once there is a place for a background run that begins here; undefined for any other call. */
  readonly begins: (command: Execute) => Promise<boolean> | undefined;
  /** Runs the body of a tool; that of a background run with a sink. */
  readonly execute: (tool: LiveTool, command: Execute, context: ToolContext, run: LiveRun) => Promise<unknown>;
  /** Takes note that a body has left memory: if it was a background run, its place is free. */
  readonly suspended: (call: CallRef) => void;
  /** The environment of the scope's calls, for processes that they start to load. */
  readonly environmentSpec: () => Json;
  /** Finds a tool that may be called here. */
  readonly toolNamed: (name: string) => LiveTool | undefined;
  /** Resolves to the first event of a type after a place in the log of the scope's own process. */
  readonly eventAfter: (eventType: string, after: number, signal: AbortSignal) => Promise<ProcessEvent>;
  readonly childStarted: (call: string, processId: string, entryName: string | undefined) => void;
}

/** Whose a key of an event from outside is: this life's of the call, the call's in all its lives, or its request's. */
export type KeyScope = "life" | "call" | "request";

/** The life of a call that a body runs in. */
export interface BodyLife {
  readonly number: number;
  /** The base of the call's keys in its first life: what is the call's own in all its lives begins with it. */
  readonly callBase: string;
  /** The last signal of each name that earlier lives were handed. */
  readonly signals: readonly SignalPlace[];
  /** Writes the life in front of what the body makes. */
  readonly named: (key: string) => string;
}

export interface CallFacts {
  /** The scope that the call runs in. */
  readonly scope: string;
  /** The session that it is for. */
  readonly session: string;
  readonly callId: string;
  readonly capabilities: Capabilities;
  /** Counts from 1 in each life, as the retry policy does. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly replayKey: string;
  /** The failures of its effects in this run. */
  readonly failures: Failures;
  /** Begins the keys of all that the body does. */
  readonly base: string;
  readonly life: BodyLife;
  readonly executionScope: string;
  readonly name: string;
  readonly payload: Json;
  /** True where the log keeps values that JSON has not, and what steps threw. */
  readonly keepsValues: boolean;
  /** `{session}/{request}/{call name}`: begins the ids of processes that stand for calls of the body. */
  readonly place: string;
  /** The id of the process that is this call's sub-agent. */
  readonly subAgentId: string;
  readonly processApi: ProcessApi;
  /** Signs the token under which the outside resolves the wait of this id. */
  readonly token: (id: string, whose: KeyScope) => string;
  /** Returns where the outside resolves a token over HTTP, if a host serves that and knows its address. */
  readonly urlOf: (token: string) => string | undefined;
  /** Records that the outside was given the key that completes the call. */
  readonly handOut: (completionKey: string) => void;
  /** Returns the context that prepares a call which the body starts apart. */
  readonly preparing: (callId: string, tool: string) => PrepareContext;
  /** Runs the hooks before such a call. */
  readonly hooked: (call: NestedCall) => Promise<{ readonly args: Json; readonly short?: ToolCallOutput }>;
  /** Opens a secret of the scope; undefined where it has none of this name. */
  readonly secret: (name: string) => Promise<string | undefined>;
  /** Reports to the host an error that no model is shown. */
  readonly report: (thrown: unknown) => void;
  readonly attachments: AttachmentStore;
  /** Takes the place of the producer of a stream. */
  readonly producer: (stream: string) => Producer;
  readonly progress: (message: ProgressMessage) => void;
  readonly continueAs: (args: Json, signals: readonly SignalPlace[]) => void;
}

export const toJson = (input: unknown, what: string): Json => {
  const json = jsonFromJs(input === undefined ? null : input);
  if (E.isLeft(json)) throw new EffectError("durable_effect_value", `${what}: ${describe(json.left)}`);
  return json.right;
};

export const valueOf = (result: EffectResult): Json => {
  if (result.status === "ok") return result.value;
  throw new EffectError(result.error.code, result.error.message);
};

const AskedFor = record<{ readonly key: string; readonly effect: EffectSpec }>("what is asked for", {
  key: string,
  effect: EffectSpecCodec,
});

/** Finds what the log could not give back of a request. The input of a step is JSON already and is left out. */
const problemOf = (key: string, effect: EffectSpec): EffectError | undefined => {
  const isStep = effect.kind === "step";
  if (isStep && effect.recovery === "again" && key.isWellFormed()) return undefined;
  const asked = { key, effect: isStep ? { ...effect, input: null } : effect };
  const fits = readOwned(AskedFor, asked as unknown as Json);
  return E.isRight(fits)
    ? undefined
    : new EffectError("durable_effect_value", `what a body asks for does not fit: ${describe(fits.left)}`);
};

const ignored = (): void => undefined;

/** One run of a body as its facets see it. */
export class Asking {
  readonly body: BodyRun;
  readonly facts: CallFacts;
  readonly #counts = new Map<string, number>();
  #hashed: { readonly text: string; readonly hash: string } | undefined;

  constructor(body: BodyRun, facts: CallFacts) {
    this.body = body;
    this.facts = facts;
  }

  /** Returns the key of the n-th use of a name within a run: the first is the name itself. */
  nextName(name: string): string {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  }

  /** Hashes a name that the body makes. A name is equal in later attempts as well, unless the attempt is given. */
  hashOfName(name: string, attempt = 1): string {
    return stableHash([this.facts.base, attempt, name]);
  }

  /** Hashes an input, and remembers the last: most effects of a body have the same one, null. */
  #hashOf(input: Json): string {
    const text = stringify(input);
    if (this.#hashed?.text !== text) this.#hashed = { text, hash: this.body.hash(text) };
    return this.#hashed.hash;
  }

  /** Opens a secret for a step. From then on what the run says is searched for it. */
  async secret(name: string): Promise<string> {
    const value = await this.facts.secret(name);
    if (value === undefined) {
      const message = `${this.facts.scope} has no secret \`${name}\`: its host sets it by \`session.secrets.set\``;
      throw new EffectError("secret_unknown", message);
    }
    const { Redaction } = await import("../redaction.ts");
    (this.body.redaction ??= new Redaction()).add(name, value);
    return value;
  }

  /** Returns data as it may go on record. */
  shown<A>(data: A): A {
    return this.body.redaction === undefined ? data : this.body.redaction.data(data);
  }

  #problemOf(key: string, effect: EffectSpec): EffectError | undefined {
    const held = this.body.redaction?.problemOf(key, [key, effect as unknown as Json]);
    return held === undefined ? problemOf(key, effect) : new EffectError("secret_on_record", held);
  }

  /** Asks for an effect. The hash of its input tells it from another under the same key. */
  ask(key: string, effect: EffectSpec, input: Json, perform?: Work): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const problem = this.#problemOf(key, effect);
      if (problem !== undefined) return reject(problem);
      this.body.request({ key, hash: this.#hashOf(input), effect, perform }, resolve, reject);
    });
  }

  /** Asks for an effect, and reads its answer with `read` before any other answer is delivered. */
  askFor<A>(
    read: (result: EffectResult, answer: Answer) => A,
    key: string,
    effect: EffectSpec,
    input: Json,
    perform?: Work,
    more?: Pick<Request, "terms" | "isWait" | "part">,
  ): Durable<A> {
    let resolve: (value: A) => void = ignored;
    let reject: (thrown: unknown) => void = ignored;
    const promise = new EffectPromise<A>((yes, no) => {
      resolve = yes;
      reject = no;
    });
    promise.key = key;
    const failed = (thrown: unknown): void => {
      if (!this.body.isOver) this.facts.failures.add(promise, thrown);
    };
    const refused = (thrown: unknown): void => {
      failed(thrown);
      unlooked(promise);
      showOwnLines(thrown);
      reject(thrown);
    };
    const told = (answer: Answer): void => {
      try {
        resolve(read(answer.result, answer));
      } catch (thrown) {
        failed(thrown);
        void rejectAt(thrown, resolve, reject, () => unlooked(promise));
      }
    };
    const problem = this.#problemOf(key, effect);
    if (problem !== undefined) refused(problem);
    else {
      const request: Request = { key, hash: this.#hashOf(input), effect, perform };
      this.body.request(more === undefined ? request : { ...request, ...more }, told, refused);
    }
    return promise;
  }
}
