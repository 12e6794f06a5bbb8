/**
 * Waits: for time to pass, for events from outside, with the tokens under which the outside resolves them, and for the decision
 * of a person (`ctx.approve`). A body leaves memory meanwhile.
 *
 * The question of `ctx.approve` is listed with the calls that await approval, and decided by the same verbs. Arguments that
 * the person edited are checked by the schema of the question: its JSON Schema where the decision comes in, and the schema itself
 * in the body.
 */
import { type EffectResult, type EffectSpec, hasRule } from "@pawl/sansio-core/driver";
import { type Json, stableHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError, shownOf, requireRule } from "../../error.ts";
import { type ArgsOf, type Schema, jsonSchemaOf } from "../../tool/argument.ts";
import { checkedNow } from "../../tool/check.ts";
import { durationMs } from "../../encoding.ts";
import { completionKeyId, customKeyId } from "../../host/host.ts";
import { awaitEffectKey } from "../recorded-result.ts";
import { ended } from "../stop.ts";
import { problemOfCompletion } from "./capability.ts";
import { type Asking, type CallFacts, type KeyScope, valueOf, toJson } from "./facet.ts";
import { type Durable, refusing } from "./durable.ts";

export interface WaitOptions<S = undefined> {
  /** Checks what the event says, and gives it its type. The wait rejects as `invalid_event` if it does not fit. */
  readonly schema?: S;
  /** Rejects the wait as `durable_effect_event_timeout` once this time is over. */
  readonly timeoutMs?: number;
  /** Says whose the name is. */
  readonly for?: KeyScope;
}

/** A wait for an event from outside. */
export interface Waiting<A> extends Durable<A> {
  /** The token under which the outside resolves it. */
  readonly token: string;
  /**
   * Where the outside resolves it over HTTP, by a `POST` whose body is what the wait is told: whoever has the address may.
   * Undefined where no host serves that, or it does not know its public address. It may be another one after a restart, so
   * hand it out in a step, and return it nowhere else.
   */
  readonly url?: string;
}

export interface Waits {
  /** Sleeps for milliseconds, for a time like `2h 30m`, or until a date. A restart does not lose what is left of it. */
  readonly sleep: (time: number | string | Date) => Durable<void>;
  /**
   * Waits for an event of this name from outside. The promise has the token under which the outside resolves it, and
   * which may be handed out in a step.
   *
   * The name is for this life of the call: after `continueAs` its token resolves nothing. `for: "call"` is for all lives
   * of the call; `for: "request"` is for all calls of the request, which share the names. In the first life a name means
   * the same with and without `for: "request"`, but its token ends with the life.
   */
  readonly waitFor: <const S extends Schema<unknown> | undefined = undefined>(
    name: string,
    options?: WaitOptions<S>,
  ) => Waiting<S extends undefined ? Json : ArgsOf<S>>;
  /** Returns the token of a name before the wait for it begins: an event that comes early is kept. */
  readonly token: (name: string, options?: { readonly for?: KeyScope }) => string;
  /** The token under which the outside completes this call, after the body returned `pending()`. */
  readonly completionKey: () => string;
}

/** Rounds to whole milliseconds: a fraction counts as one more, and a time that is over already as none. */
export const wholeMs = (ms: number): number => Math.max(0, Math.ceil(ms));

/** Returns the scope in which names of events are told apart. In the first life calls of a request share them. */
const scopeOf = ({ executionScope, base, life }: CallFacts, whose: KeyScope): string => {
  if (whose === "call") return life.callBase;
  return whose === "request" || life.number === 1 ? executionScope : base;
};

/** Names the wait for an event of this name. */
const waitIdOf = (facts: CallFacts, key: string, whose: KeyScope): string => {
  if (key.trim() === "")
    throw new EffectError("durable_effect_empty_event_key", "durable effect external event key must be non-empty");
  return customKeyId({ executionScope: scopeOf(facts, whose) }, key);
};

/** Says whose own a wait is, where it is not its request's. */
const ownOf = ({ life, processApi }: CallFacts, whose: KeyScope): { readonly own?: "life" | "call" } => {
  const isShared = whose === "request" || (whose === "life" && life.number === 1);
  return isShared || !hasRule(processApi.state().scope.protocol, "lives") ? {} : { own: whose };
};

/** Reads a time: a number of milliseconds, a text with units, or a date, which is counted from the body's own clock. */
const msOf = (time: unknown, now: number): number => {
  if (typeof time === "number") return wholeMs(time);
  if (time instanceof Date && !Number.isNaN(time.getTime())) return wholeMs(time.getTime() - now);
  const ms = typeof time === "string" ? durationMs(time) : undefined;
  if (ms !== undefined) return wholeMs(ms);
  const wanted = "expected milliseconds, a text like `2h 30m`, or a date";
  throw new EffectError("durable_effect_value", `the time of a sleep: ${wanted}, found ${shownOf(time)}`);
};

const sleep = (asking: Asking, time: number | string | Date): Durable<void> => {
  const ms = msOf(time, asking.body.now);
  return asking.askFor(() => undefined, asking.nextName("sleep"), { kind: "sleep", ms }, ms);
};

/** Reads what an event says; throws what of it does not fit. */
const readingOf =
  (name: string, schema: Schema<unknown> | undefined) =>
  (result: EffectResult): unknown => {
    const said = valueOf(result);
    if (schema === undefined) return said;
    const checked = checkedNow(schema, said, "event");
    if (E.isRight(checked)) return checked.right;
    throw new EffectError("invalid_event", `the event \`${name}\`: ${checked.left}`);
  };

const waitFor = (asking: Asking, name: string, options: WaitOptions<Schema<unknown>>): Durable<unknown> => {
  const { timeoutMs, for: whose = "life", schema } = options;
  const wait = waitIdOf(asking.facts, name, whose);
  const spec: EffectSpec = {
    kind: "wait",
    wait,
    ...(timeoutMs === undefined ? {} : { deadline_ms: wholeMs(timeoutMs) }),
    ...ownOf(asking.facts, whose),
  };
  return asking.askFor(readingOf(name, schema), awaitEffectKey(wait), spec, wait);
};

const tokenOf = ({ facts }: Asking, name: string, whose: KeyScope): string =>
  facts.token(waitIdOf(facts, name, whose), whose);

/** Gives a wait its token, which is made when it is read: most bodies hand it out once, in their first run. */
const withToken = (asking: Asking, wait: Durable<unknown>, name: string, whose: KeyScope): Waiting<unknown> => {
  const token = (): string => tokenOf(asking, name, whose);
  const given = { token: { get: token }, url: { get: () => asking.facts.urlOf(token()) } };
  return Object.defineProperties(wait, given) as Waiting<unknown>;
};

const completionKey = ({ body, facts }: Asking): string => {
  const problem = problemOfCompletion(facts.capabilities);
  if (problem !== undefined) throw problem;
  if (body.isOver) throw ended;
  const key = completionKeyId(facts);
  if (!body.hasCompletionKey) facts.handOut(key);
  body.hasCompletionKey = true;
  return facts.token(key, "request");
};

export const waits = (asking: Asking): Waits => ({
  sleep: (time) => refusing("sleep", () => sleep(asking, time)),
  waitFor: (name, options = {}) => {
    const wait = refusing(awaitEffectKey(name), () => waitFor(asking, name, options as WaitOptions<Schema<unknown>>));
    return withToken(asking, wait, name, options.for ?? "life") as Waiting<never>;
  },
  token: (name, { for: whose = "life" } = {}) => {
    if (asking.body.isOver) throw ended;
    return tokenOf(asking, name, whose);
  },
  completionKey: () => completionKey(asking),
});

export interface Question<S> {
  /** Tells the person in one line what is asked. */
  readonly title: string;
  /** The arguments that are asked about; the person may edit them. */
  readonly args?: unknown;
  /** Checks the arguments, edited ones too, and gives them their type. */
  readonly schema?: S;
  /** Answers `approved: false` where nobody has decided by then. */
  readonly timeoutMs?: number;
}

/** The decision of a person. `args`: those to go on with; `by`: who decided, unless nobody did in time. */
export type Decided<A> =
  | { readonly approved: true; readonly args: A; readonly by: string; readonly reason?: undefined }
  | { readonly approved: false; readonly reason: string; readonly by?: string; readonly args?: undefined };

export interface Approves {
  /** Asks a person, and waits for the decision. */
  readonly approve: <const S extends Schema<unknown>>(question: Question<S>) => Durable<Decided<ArgsOf<S>>>;
}

interface Answer {
  readonly approved: boolean;
  readonly args?: Json;
  readonly reason?: string;
  readonly by?: string;
}

/** Returns the arguments in the form of their schema; throws what is wrong with them. */
const fitting = ({ title, schema }: Question<Schema<unknown>>, args: Json): unknown => {
  if (schema === undefined) return args;
  const checked = checkedNow(schema, args, "arguments");
  if (E.isRight(checked)) return checked.right;
  throw new EffectError("invalid_tool_args", `the arguments of approval ${shownOf(title)}: ${checked.left}`);
};

const admitTitle = (title: unknown): void => {
  if (typeof title === "string" && title.trim() !== "") return;
  const wanted = "expected a text that is not blank";
  throw new EffectError("durable_effect_value", `the title of an approval: ${wanted}, found ${shownOf(title)}`);
};

const approve = (asking: Asking, question: Question<Schema<unknown>>): Durable<unknown> => {
  const { title, schema, timeoutMs } = question;
  requireRule(asking.facts.processApi.state().scope.protocol, "asked_approvals", "`ctx.approve`");
  admitTitle(title);
  const args = toJson(question.args ?? {}, `the arguments of approval ${shownOf(title)}`);
  fitting(question, args);
  const json = schema && jsonSchemaOf(schema, "input");
  const asked = { title, args, args_hash: stableHash(args), ...(json === undefined ? {} : { schema: json }) };
  const limit = timeoutMs === undefined ? {} : { deadline_ms: wholeMs(timeoutMs) };
  const read = (result: EffectResult): unknown => {
    const said = valueOf(result) as unknown as Answer;
    return said.approved ? { ...said, args: fitting(question, said.args ?? args) } : said;
  };
  const key = asking.nextName(asking.facts.life.named("approve"));
  return asking.askFor(read, key, { kind: "approval", ...asked, ...limit }, [title, args]);
};

export const approvals = (asking: Asking): Approves => ({
  approve: (question) => refusing("approve", () => approve(asking, question)) as Durable<never>,
});
