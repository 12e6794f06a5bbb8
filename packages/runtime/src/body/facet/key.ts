/** Tokens for words from outside. */
import { EffectError } from "../../error.ts";
import { problemOfCompletion } from "../capabilities.ts";
import { ended } from "../signals.ts";
import type { Asking } from "./asking.ts";
import { completionKeyId, customKeyId } from "../../host/call-place.ts";
import type { CallFacts } from "./facts.ts";

export interface Keys {
  /** The token under which the outside resolves an event of this name. */
  readonly externalEventKey: (key: string) => string;
  /** The token under which the outside completes this call, after the body returned `pending()`. */
  readonly completionKey: () => string;
}

/** The key of the wait for an event of this name. */
export const waitIdOf = (facts: CallFacts, key: string): string => {
  if (key.trim() === "")
    throw new EffectError("durable_effect_empty_event_key", "durable effect external event key must be non-empty");
  return customKeyId(facts, key);
};

export const keys = ({ body, facts }: Asking): Keys => ({
  externalEventKey: (key) => {
    if (body.isOver) throw ended;
    return facts.token(waitIdOf(facts, key));
  },
  completionKey: () => {
    const problem = problemOfCompletion(facts.capabilities);
    if (problem !== undefined) throw problem;
    if (body.isOver) throw ended;
    const key = completionKeyId(facts);
    if (!body.hasCompletionKey) facts.handOut(key);
    body.hasCompletionKey = true;
    return facts.token(key);
  },
});
