/** Triggers: what a body sets off, told with its batch's replies. */
import { type Codec, type Json, array, describe, json, optional, read, record, string } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../../error.ts";
import { type Asking, type Durable, durable, refusing, toJson, valueOf } from "./asking.ts";

export interface TriggerInput {
  readonly source_type: string;
  readonly source_key: string;
  readonly payload: Json;
  readonly idempotency_key: string;
  readonly source?: Json;
}
const TriggerInput: Codec<TriggerInput> = record<TriggerInput>("struct TriggerInput", {
  source_type: string,
  source_key: string,
  payload: json,
  idempotency_key: string,
  source: optional(json),
});

export interface TriggerOccurrence {
  readonly occurrence_id: string;
  readonly started_process_ids: readonly string[];
}
const TriggerOccurrence: Codec<TriggerOccurrence> = record<TriggerOccurrence>("struct TriggerOccurrence", {
  occurrence_id: string,
  started_process_ids: array(string),
});

export interface Triggers {
  readonly triggers: { readonly emit: (trigger: TriggerInput) => Durable<TriggerOccurrence> };
}

const decoded = <A>(codec: Codec<A>, said: unknown, what: string): A => {
  const result = read(codec, said);
  if (E.isLeft(result)) throw new EffectError("trigger_invalid", `${what}: ${describe(result.left)}`);
  return result.right;
};

export const triggers = (asking: Asking): Triggers => {
  const ask: Triggers["triggers"]["emit"] = (trigger) => {
    const input = toJson(TriggerInput.encode(decoded(TriggerInput, trigger, "the trigger")), "the trigger");
    const key = asking.nextName(`trigger:${trigger.idempotency_key}`);
    const answered = asking.ask(key, { kind: "trigger", input }, input);
    return durable(
      key,
      answered.then(({ result }) => decoded(TriggerOccurrence, valueOf(result), "the host's answer to a trigger")),
    );
  };
  return { triggers: { emit: (trigger) => refusing("trigger", () => ask(trigger)) } };
};
