/**
 * An effect as the reference hands it to whoever performs it: whose doing it is and under which key it is remembered,
 * and what is to be done. An encoding for hosts: the core's events are not shaped after it.
 */
import { type Codec, type Json, record, stableHash } from "@pawl/tool-value";
import { RuntimeInvocation } from "@pawl/sansio-core";
import { RuntimeEffectCommand } from "./command.ts";

export interface RuntimeEffectEnvelope {
  readonly invocation: RuntimeInvocation;
  readonly command: RuntimeEffectCommand;
}
export const RuntimeEffectEnvelope: Codec<RuntimeEffectEnvelope> = record<RuntimeEffectEnvelope>(
  "struct RuntimeEffectEnvelope",
  { invocation: RuntimeInvocation, command: RuntimeEffectCommand },
);

/** What tells two effects under one replay key apart. */
export const envelopeHash = (envelope: RuntimeEffectEnvelope): string =>
  stableHash(RuntimeEffectEnvelope.encode(envelope) as Json);
