/** Waits: for time to pass, and for events from outside, with the tokens under which the outside resolves them. */
import { type EffectSpec, hasRule } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { EffectError } from "../../error.ts";
import { completionKeyId, customKeyId } from "../../host/host.ts";
import { awaitEffectKey } from "../replay.ts";
import { ended } from "../stop.ts";
import { type Asking, type CallFacts, type KeyScope, problemOfCompletion, valueOf } from "./facet.ts";
import { type Durable, refusing } from "./durable.ts";

export interface Waits {
  readonly sleep: (ms: number) => Durable<void>;
  /** Awaits an event of this name, under the key that `externalEventKey` gives for the same `for`. */
  readonly awaitEventJson: (
    key: string,
    options?: { readonly deadlineMs?: number; readonly for?: KeyScope },
  ) => Durable<Json>;
  /**
   * The token under which the outside resolves an event of this name. It is for this life of the call: after
   * `continueAs` it resolves nothing. `for: "call"` is for all lives of the call; `for: "request"` is for all calls of
   * the request, which share the names. In the first life a name means the same with and without `for: "request"`, but
   * its token ends with the life.
   */
  readonly externalEventKey: (key: string, options?: { readonly for?: KeyScope }) => string;
  /** The token under which the outside completes this call, after the body returned `pending()`. */
  readonly completionKey: () => string;
}

/** Rounds to whole milliseconds: a fraction counts as one more, and a time that is over already as none. */
const wholeMs = (ms: number): number => Math.max(0, Math.ceil(ms));

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

const sleep = (asking: Asking, said: number): Durable<void> => {
  const ms = wholeMs(said);
  return asking.askFor(() => undefined, asking.nextName("sleep"), { kind: "sleep", ms }, ms);
};

const awaitEvent = (asking: Asking, key: string, deadlineMs: number | undefined, whose: KeyScope): Durable<Json> => {
  const wait = waitIdOf(asking.facts, key, whose);
  const spec: EffectSpec = {
    kind: "wait",
    wait,
    ...(deadlineMs === undefined ? {} : { deadline_ms: wholeMs(deadlineMs) }),
    ...ownOf(asking.facts, whose),
  };
  return asking.askFor(valueOf, awaitEffectKey(wait), spec, wait);
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
  sleep: (ms) => refusing("sleep", () => sleep(asking, ms)),
  awaitEventJson: (key, { deadlineMs, for: whose = "life" } = {}) =>
    refusing(awaitEffectKey(key), () => awaitEvent(asking, key, deadlineMs, whose)),
  externalEventKey: (key, { for: whose = "life" } = {}) => {
    if (asking.body.isOver) throw ended;
    return asking.facts.token(waitIdOf(asking.facts, key, whose), whose);
  },
  completionKey: () => completionKey(asking),
});
