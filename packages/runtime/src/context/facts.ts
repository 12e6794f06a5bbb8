/** Of a call, what its context needs to know. */
import { type AwaitEventWaitIdentity, awaitKeyId } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../error.ts";
import type { Standing } from "../open.ts";
import type { ProcessReach } from "./process-reach.ts";

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
  /** `{session}/{request}/{call name}`: what processes are called that stand for calls of the body. */
  readonly place: string;
  readonly reach: ProcessReach;
  readonly token: (id: string) => string;
  readonly continueAs: (args: Json) => void;
}

/** The id of a wait of this call's execution scope. */
const waitIdIn = ({ executionScope }: CallFacts, wait: AwaitEventWaitIdentity): string => {
  const id = awaitKeyId({ type: "runtime_operation", operation_id: executionScope }, wait);
  if (E.isLeft(id)) throw new EffectError(id.left.code, id.left.message);
  return id.right.key_id;
};

export const customKeyId = (facts: CallFacts, key: string): string => waitIdIn(facts, { type: "custom", key });

export const completionKeyId = (facts: CallFacts): string =>
  waitIdIn(facts, { type: "tool_completion", tool_call_id: facts.name });
