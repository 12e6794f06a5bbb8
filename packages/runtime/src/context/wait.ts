/** Time, and words from outside. */
import type { EffectSpec } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import { EffectError } from "../error.ts";
import { misfitOfCompletion } from "../open.ts";
import { ended } from "../signals.ts";
import { awaitEffectKey } from "../value.ts";
import { type Asking, type Durable, durable, refusing, valueOf } from "./asking.ts";
import { completionKeyId, customKeyId } from "./facts.ts";

export interface Waits {
  readonly sleep: (ms: number) => Durable<void>;
  /** The token under which the outside resolves an event of this name. */
  readonly externalEventKey: (key: string) => string;
  readonly awaitEventJson: (key: string, options?: { readonly deadlineMs?: number }) => Durable<Json>;
  /** The token under which the outside completes this call, after the body returned `pending()`. */
  readonly completionKey: () => string;
}

/** Times are whole milliseconds: a fraction counts as one more, and what is over already is no time. */
const wholeMs = (ms: number): number => Math.max(0, Math.ceil(ms));

export const waits = (asking: Asking): Waits => {
  const { facts } = asking;

  const waitId = (key: string): string => {
    if (key.trim() === "")
      throw new EffectError("durable_effect_empty_event_key", "durable effect external event key must be non-empty");
    return customKeyId(facts, key);
  };

  const sleep: Waits["sleep"] = (said) => {
    const ms = wholeMs(said);
    const key = asking.nextName("sleep");
    return durable(
      key,
      asking.ask(key, { kind: "sleep", ms }, ms).then(() => undefined),
    );
  };

  const awaitEventJson: Waits["awaitEventJson"] = (key, { deadlineMs } = {}) => {
    const wait = waitId(key);
    const effectKey = awaitEffectKey(wait);
    const spec: EffectSpec = {
      kind: "wait",
      wait,
      ...(deadlineMs === undefined ? {} : { deadline_ms: wholeMs(deadlineMs) }),
    };
    return durable(
      effectKey,
      asking.ask(effectKey, spec, wait).then(({ result }) => valueOf(result)),
    );
  };

  const completionKey = (): string => {
    const misfit = misfitOfCompletion(facts.standing);
    if (misfit !== undefined) throw misfit;
    if (asking.body.isOver) throw ended;
    const key = completionKeyId(facts);
    if (!asking.body.hasCompletionKey) facts.handOut(key);
    asking.body.hasCompletionKey = true;
    return facts.token(key);
  };

  return {
    sleep: (ms) => refusing("sleep", () => sleep(ms)),
    externalEventKey: (key) => facts.token(waitId(key)),
    awaitEventJson: (key, options) => refusing(awaitEffectKey(key), () => awaitEventJson(key, options)),
    completionKey,
  };
};
