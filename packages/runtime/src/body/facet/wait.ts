/** Waits: for time to pass, and for events from outside, with the tokens under which the outside resolves them. */
import type { EffectSpec } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { EffectError } from "../../error.ts";
import { completionKeyId, customKeyId } from "../../host/host.ts";
import { awaitEffectKey } from "../replay.ts";
import { ended } from "../stop.ts";
import { type Asking, type CallFacts, type Durable, problemOfCompletion, refusing, valueOf } from "./facet.ts";

export interface Waits {
  readonly sleep: (ms: number) => Durable<void>;
  readonly awaitEventJson: (key: string, options?: { readonly deadlineMs?: number }) => Durable<Json>;
  /** The token under which the outside resolves an event of this name. */
  readonly externalEventKey: (key: string) => string;
  /** The token under which the outside completes this call, after the body returned `pending()`. */
  readonly completionKey: () => string;
}

/** Rounds to whole milliseconds: a fraction counts as one more, and a time that is over already as none. */
const wholeMs = (ms: number): number => Math.max(0, Math.ceil(ms));

/** Names the wait for an event of this name. */
const waitIdOf = (facts: CallFacts, key: string): string => {
  if (key.trim() === "")
    throw new EffectError("durable_effect_empty_event_key", "durable effect external event key must be non-empty");
  return customKeyId(facts, key);
};

const sleep = (asking: Asking, said: number): Durable<void> => {
  const ms = wholeMs(said);
  return asking.askFor(() => undefined, asking.nextName("sleep"), { kind: "sleep", ms }, ms);
};

const awaitEvent = (asking: Asking, key: string, deadlineMs: number | undefined): Durable<Json> => {
  const wait = waitIdOf(asking.facts, key);
  const spec: EffectSpec = {
    kind: "wait",
    wait,
    ...(deadlineMs === undefined ? {} : { deadline_ms: wholeMs(deadlineMs) }),
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
  return facts.token(key);
};

export const waits = (asking: Asking): Waits => ({
  sleep: (ms) => refusing("sleep", () => sleep(asking, ms)),
  awaitEventJson: (key, { deadlineMs } = {}) =>
    refusing(awaitEffectKey(key), () => awaitEvent(asking, key, deadlineMs)),
  externalEventKey: (key) => {
    if (asking.body.isOver) throw ended;
    return asking.facts.token(waitIdOf(asking.facts, key));
  },
  completionKey: () => completionKey(asking),
});
