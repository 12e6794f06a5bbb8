/** Time, and words from outside. */
import type { EffectSpec } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { awaitEffectKey } from "../value.ts";
import { type Asking, type Durable, durable, refusing, valueOf } from "./asking.ts";
import { waitIdOf } from "./key.ts";

export interface Waits {
  readonly sleep: (ms: number) => Durable<void>;
  readonly awaitEventJson: (key: string, options?: { readonly deadlineMs?: number }) => Durable<Json>;
}

/** Times are whole milliseconds: a fraction counts as one more, and what is over already is no time. */
const wholeMs = (ms: number): number => Math.max(0, Math.ceil(ms));

export const waits = (asking: Asking): Waits => {
  const { facts } = asking;

  const sleep: Waits["sleep"] = (said) => {
    const ms = wholeMs(said);
    const key = asking.nextName("sleep");
    return durable(
      key,
      asking.ask(key, { kind: "sleep", ms }, ms).then(() => undefined),
    );
  };

  const awaitEventJson: Waits["awaitEventJson"] = (key, { deadlineMs } = {}) => {
    const wait = waitIdOf(facts, key);
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

  return {
    sleep: (ms) => refusing("sleep", () => sleep(ms)),
    awaitEventJson: (key, options) => refusing(awaitEffectKey(key), () => awaitEventJson(key, options)),
  };
};
