/** Completions that a body asks for beside its turn's own. */
import { type CausalRef, directIdentity } from "@pawl/sansio-core/driver";
import { type Json, describe, read, stableHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../../error.ts";
import { type Asking, type Durable, durable, refusing, toJson, valueOf } from "./asking.ts";
import { LlmRequest } from "./llm-request.ts";

export interface Directs {
  readonly directCompletions: {
    /** `{text, usage}`, as the host's model provider answers. */
    readonly complete: (request: unknown, usageSource: string, causedBy?: CausalRef) => Durable<Json>;
  };
}

/** The session is the call's own where the request names none. */
const requestOf = (asking: Asking, said: unknown): LlmRequest => {
  const request = read(LlmRequest, toJson(said, "the request of a completion"));
  if (E.isLeft(request))
    throw new EffectError("direct_request", `the request of a completion: ${describe(request.left)}`);
  return { ...request.right, session_id: request.right.session_id ?? asking.facts.session };
};

export const directs = (asking: Asking): Directs => {
  const { session: session_id, callId: call_id } = asking.facts;
  const ask: Directs["directCompletions"]["complete"] = (
    said,
    usage_source,
    caused_by = { type: "tool_call", session_id, call_id },
  ) => {
    const request = requestOf(asking, said);
    const encoded = LlmRequest.encode(request) as Json;
    const named = { session_id, usage_source, caused_by, request: { hash: stableHash(encoded) } };
    const key = asking.nextName(directIdentity(named).replay_key);
    const input = toJson({ request: encoded, usage_source, caused_by, replay_key: key }, "the request of a completion");
    const answered = asking.ask(key, { kind: "host", name: "direct.complete", input }, input);
    return durable(
      key,
      answered.then(({ result }) => valueOf(result)),
    );
  };
  return { directCompletions: { complete: (...of) => refusing("direct", () => ask(...of)) } };
};
