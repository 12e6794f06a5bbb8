/** What a tool's body is given: `ctx`. Each durable effect has a key that repeats when the program repeats. */
import {
  type AwaitEventWaitIdentity,
  type EffectResult,
  type EffectSpec,
  type Reply,
  type SelectMode,
  type StepRecovery,
  awaitKeyId,
  batchId,
} from "@pawl/sansio-core";
import { type Json, describe, encode, fromJs, stableHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Answer, BodyRun } from "./body.ts";
import { EffectError } from "./error.ts";
import { type Standing, misfitOfCompletion, misfitOfDurable } from "./open.ts";
import { awaitEffectKey } from "./value.ts";

/** What a step's function is handed besides its input. */
export interface StepInfo {
  /** The step's replay key: hand it to the outside service as idempotency key. */
  readonly key: string;
  readonly signal: AbortSignal;
  readonly attempt: number;
}

/** The promise of a durable effect, which a race can name. */
export interface Durable<A> extends Promise<A> {
  readonly key: string;
}

export interface ToolContext {
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** One for all attempts of this call: the idempotency key for an outside service. */
  readonly replayKey: string;
  readonly payload: Json;
  readonly signal: AbortSignal;
  /** Runs `fn` once per record: a body that runs again is answered from the log. */
  readonly runJson: <A>(
    stepId: string,
    input: unknown,
    fn: (input: Json, info: StepInfo) => A | Promise<A>,
    options?: { readonly recovery?: StepRecovery },
  ) => Durable<A>;
  readonly sleep: (ms: number) => Durable<void>;
  /** The token under which the outside resolves an event of this name. */
  readonly externalEventKey: (key: string) => string;
  readonly awaitEventJson: (key: string, options?: { readonly deadlineMs?: number }) => Durable<Json>;
  readonly host: (name: string, input: unknown) => Durable<Json>;
  readonly batch: (
    calls: readonly { readonly id: string; readonly toolId: string; readonly args: unknown }[],
  ) => Durable<readonly Reply[]>;
  readonly race: <const M extends readonly Durable<unknown>[]>(members: M) => Promise<Awaited<M[number]>>;
  readonly any: <const M extends readonly Durable<unknown>[]>(members: M) => Promise<Awaited<M[number]>>;
  readonly all: <A>(members: readonly Durable<A>[]) => Promise<readonly A[]>;
  readonly allSettled: <A>(members: readonly Durable<A>[]) => Promise<readonly PromiseSettledResult<A>[]>;
  /** The token under which the outside completes this call, after the body returned `pending()`. */
  readonly completionKey: () => string;
  /** Starts the body anew with other arguments and nothing remembered. */
  readonly continueAs: (args: unknown) => Promise<never>;
  /** Scope time of the last answer that was delivered: equal in every run. */
  readonly now: () => number;
  readonly random: () => number;
  readonly uuid: (name: string) => string;
}

/** Of a call, what its context needs to know. */
export interface CallFacts {
  readonly sessionId: string;
  readonly callId: string;
  readonly standing: Standing;
  readonly maxAttempts: number;
  readonly replayKey: string;
  /** The base of the keys of all that the body does. */
  readonly base: string;
  readonly executionScope: string;
  readonly name: string;
  readonly payload: Json;
  readonly token: (id: string) => string;
  readonly continueAs: (args: Json) => void;
}

const toJson = (input: unknown, what: string): Json => {
  const value = fromJs(input === undefined ? null : input);
  if (E.isLeft(value)) throw new EffectError("durable_effect_value", `${what}: ${describe(value.left)}`);
  return encode(value.right);
};

const blank = (text: string): boolean => text.trim() === "";

const valueOf = (result: EffectResult): Json => {
  if (result.status === "ok") return result.value;
  throw new EffectError(result.error.code, result.error.message);
};

const errorOf = (thrown: unknown): EffectResult => {
  const code = thrown instanceof EffectError ? thrown.code : "durable_step_failed";
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { status: "err", error: { code, message: message.toWellFormed() } };
};

const durable = <A>(key: string, promise: Promise<A>): Durable<A> => Object.assign(promise, { key });

/** The n-th use of a name within a run: the first is the name itself. */
class Occurrences {
  readonly #counts = new Map<string, number>();
  next(name: string): string {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  }
}

export const toolContext = (body: BodyRun, facts: CallFacts): ToolContext => {
  const steps = new Set<string>();
  const names = new Occurrences();

  const effect = async (
    key: string,
    spec: EffectSpec,
    input: Json,
    perform?: () => Promise<EffectResult>,
  ): Promise<Answer> =>
    body.request({ key, hash: stableHash(input), effect: spec, ...(perform === undefined ? {} : { perform }) });

  const waitId = (key: string): string => {
    if (blank(key))
      throw new EffectError("durable_effect_empty_event_key", "durable effect external event key must be non-empty");
    return customKeyId(facts, key);
  };

  const runJson: ToolContext["runJson"] = (stepId, input, fn, { recovery = "again" } = {}) => {
    const key = `durable-step:${stepId}`;
    const misuse = misfitOfDurable(facts.standing) ?? misuseOfStep(stepId, steps);
    if (misuse !== undefined) return durable(key, Promise.reject(misuse));
    steps.add(stepId);
    const json = toJson(input, `the input of step \`${stepId}\``);
    const info: StepInfo = {
      key: `${facts.base}:${key}`,
      get signal() {
        return body.signal;
      },
      attempt: body.id.attempt,
    };
    const perform = async (): Promise<EffectResult> => {
      try {
        return { status: "ok", value: toJson(await fn(json, info), `the result of step \`${stepId}\``) };
      } catch (thrown) {
        return errorOf(thrown);
      }
    };
    const answered = effect(key, { kind: "step", recovery, input: json }, json, perform);
    return durable(
      key,
      answered.then(({ result }) => valueOf(result) as never),
    );
  };

  const sleep: ToolContext["sleep"] = (ms) => {
    const key = names.next("sleep");
    return durable(
      key,
      effect(key, { kind: "sleep", ms }, ms).then(() => undefined),
    );
  };

  const awaitEventJson: ToolContext["awaitEventJson"] = (key, { deadlineMs } = {}) => {
    const wait = waitId(key);
    const effectKey = awaitEffectKey(wait);
    const spec: EffectSpec = { kind: "wait", wait, ...(deadlineMs === undefined ? {} : { deadline_ms: deadlineMs }) };
    return durable(
      effectKey,
      effect(effectKey, spec, wait).then(({ result }) => valueOf(result)),
    );
  };

  const host: ToolContext["host"] = (name, input) => {
    const key = names.next(`host:${name}`);
    const json = toJson(input, `the input of \`${name}\``);
    return durable(
      key,
      effect(key, { kind: "host", name, input: json }, json).then(({ result }) => valueOf(result)),
    );
  };

  const batch: ToolContext["batch"] = (calls) => {
    const listed = calls.map(({ id, toolId, args }) => ({
      id,
      tool_id: toolId,
      args: toJson(args, `the arguments of \`${id}\``),
    }));
    const key = names.next(batchId(listed).batch_id);
    if (listed.length === 0) return durable(key, Promise.resolve([]));
    const children = listed.map(({ id, tool_id, args }) => ({ id, tool: tool_id, args }));
    const answered = effect(key, { kind: "batch", calls: children }, children);
    return durable(
      key,
      answered.then(({ result }) => valueOf(result) as unknown as readonly Reply[]),
    );
  };

  /** The place of the member that decided; an async function must not return the member, which it would wait for. */
  const select = async (mode: SelectMode, members: readonly Durable<unknown>[]): Promise<number> => {
    const keys = members.map(({ key }) => key);
    const key = names.next(`select:${mode}`);
    const { winner } = await effect(key, { kind: "select", mode, keys }, [mode, ...keys]);
    return members.findIndex((member) => member.key === winner);
  };

  const first = async <A>(mode: "race" | "any", members: readonly Durable<A>[]): Promise<A> => {
    const won = members[await select(mode, members)];
    if (won === undefined) throw new EffectError("durable_effect_select", `nothing won a ${mode} of nothing`);
    return won;
  };

  const all: ToolContext["all"] = async (members) => {
    if (members.length > 0) await select("all", members);
    return Promise.all(members);
  };

  const allSettled: ToolContext["allSettled"] = async (members) => {
    if (members.length > 0) await select("all_settled", members);
    return Promise.allSettled(members);
  };

  const named = (name: string): string => stableHash([facts.base, body.id.attempt, name]);

  return {
    sessionId: facts.sessionId,
    toolCallId: facts.callId,
    attempt: body.id.attempt,
    maxAttempts: facts.maxAttempts,
    replayKey: facts.replayKey,
    payload: facts.payload,
    get signal() {
      return body.signal;
    },
    runJson,
    sleep,
    externalEventKey: (key) => facts.token(waitId(key)),
    awaitEventJson,
    host,
    batch,
    race: (members) => first("race", members) as never,
    any: (members) => first("any", members) as never,
    all,
    allSettled,
    completionKey: () => {
      const misfit = misfitOfCompletion(facts.standing);
      if (misfit !== undefined) throw misfit;
      return facts.token(completionKeyId(facts));
    },
    continueAs: (args) => {
      facts.continueAs(toJson(args, "the arguments to continue with"));
      return new Promise<never>(() => undefined);
    },
    now: () => body.now,
    random: () => Number.parseInt(named(names.next("random")).slice(0, 12), 16) / 2 ** 48,
    uuid: (name) => uuidOf(named(names.next(`uuid:${name}`))),
  };
};

/** The id of a wait of this call's execution scope. */
const waitIdIn = ({ executionScope }: CallFacts, wait: AwaitEventWaitIdentity): string => {
  const id = awaitKeyId({ type: "runtime_operation", operation_id: executionScope }, wait);
  if (E.isLeft(id)) throw new EffectError(id.left.code, id.left.message);
  return id.right.key_id;
};
const customKeyId = (facts: CallFacts, key: string): string => waitIdIn(facts, { type: "custom", key });
export const completionKeyId = (facts: CallFacts): string =>
  waitIdIn(facts, { type: "tool_completion", tool_call_id: facts.name });

const misuseOfStep = (stepId: string, used: ReadonlySet<string>): EffectError | undefined => {
  if (blank(stepId)) return new EffectError("durable_effect_empty_step_id", "durable effect step id must be non-empty");
  if (!used.has(stepId)) return undefined;
  const message = `durable effect step id \`${stepId}\` was already used by this tool call`;
  return new EffectError("durable_effect_duplicate_step_id", message);
};

/** A name-based UUID: version 8, as its bits are those of our own hash. */
const uuidOf = (hex: string): string => {
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join("-");
};
