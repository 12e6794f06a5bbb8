/**
 * Requests to the host: `ctx.host` and what is made of it, the verbs of sessions, triggers and direct completions. The
 * host answers each once; a body that runs again is answered from the record.
 */
import { type CausalRef, type EffectResult, directIdentity } from "@pawl/sansio-core/driver";
import {
  type Codec,
  type Json,
  array,
  AttachmentRef,
  describe,
  json,
  nullable,
  optional,
  read,
  record,
  stableHash,
  string,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../../error.ts";
import { StoredOccurrence, type Trigger, type TriggerOccurrence } from "../../host/trigger.ts";
import { type Asking, toJson, valueOf } from "./facet.ts";
import { type Durable, refusing } from "./durable.ts";

/** The verbs of a session, as its host keeps it. */
interface SessionVerbs {
  readonly model: () => Durable<Json>;
  readonly snapshotCurrent: () => Durable<Json>;
  readonly snapshot: (sessionId: string) => Durable<Json>;
  readonly createSession: (request: unknown) => Durable<Json>;
  readonly closeSession: (sessionId: string) => Durable<Json>;
  readonly startTurn: (sessionId: string, turnId: string, input: unknown) => Durable<Json>;
  readonly toolCatalog: () => Durable<Json>;
  readonly sharedToolCatalog: () => Durable<Json>;
  /** Null takes the override back. */
  readonly setToolsAvailability: (names: readonly string[], availability: string | null) => Durable<Json>;
}

const TriggerCodec: Codec<Trigger> = record<Trigger>("struct Trigger", {
  sourceType: string,
  sourceKey: string,
  payload: json,
  idempotencyKey: string,
  source: optional(json),
});

/** Names an attachment: its bytes are stored before the request. */
interface RequestAttachment {
  readonly reference: AttachmentRef;
}
/** A request to a model, in the reference's wire format. pawl passes its parts on unread, to the host's provider. */
export interface LlmRequest {
  readonly model: string;
  readonly messages: readonly Json[];
  readonly attachments: readonly RequestAttachment[];
  readonly tools: readonly Json[];
  readonly tool_choice: Json;
  readonly model_variant: string | null;
  readonly generation: Json;
  readonly session_id: string | null;
  readonly output_spec: Json;
}
export const LlmRequest: Codec<LlmRequest> = record<LlmRequest>("struct LlmRequest", {
  model: string,
  messages: array(json),
  attachments: array(record<RequestAttachment>("struct RequestAttachment", { reference: AttachmentRef })),
  tools: array(json),
  tool_choice: json,
  model_variant: nullable(string),
  generation: json,
  session_id: nullable(string),
  output_spec: nullable(json),
});

/** Small values of the session, on record. */
interface Store {
  /** Returns the value under a key; undefined where there is none. A body that runs again reads what it has read. */
  readonly get: (key: string) => Durable<Json | undefined>;
  /** Writes a value, once; null or undefined removes the key. */
  readonly set: (key: string, value: unknown) => Durable<void>;
}

export interface HostRequests {
  readonly store: Store;
  readonly host: (name: string, input: unknown) => Durable<Json>;
  readonly sessions: SessionVerbs;
  /** Sets off a trigger of the host's. */
  readonly triggers: { readonly emit: (trigger: Trigger) => Durable<TriggerOccurrence> };
  /** Completions beside those of the agent's turn. */
  readonly directCompletions: {
    /** Returns `{text, usage}`, as the host's model provider answers. */
    readonly complete: (request: unknown, usageSource: string, causedBy?: CausalRef) => Durable<Json>;
  };
}

const hostRequestAs = <A>(
  asking: Asking,
  name: string,
  input: unknown,
  decode: (result: EffectResult) => A,
): Durable<A> => {
  const key = asking.nextName(asking.facts.life.named(`host:${name}`));
  return refusing(key, () => {
    const encoded = toJson(input, `the input of \`${name}\``);
    return asking.askFor(decode, key, { kind: "host", name, input: encoded }, encoded);
  });
};

const hostRequest = (asking: Asking, name: string, input: unknown): Durable<Json> =>
  hostRequestAs(asking, name, input, valueOf);

const storeOf = (asking: Asking): Store => ({
  get: (key) => hostRequestAs(asking, "store.get", { key }, (result) => valueOf(result) ?? undefined),
  set: (key, value) =>
    hostRequestAs(asking, "store.set", { key, value: value ?? null }, (result) => void valueOf(result)),
});

const sessionVerbs = (asking: Asking): SessionVerbs => {
  const ask = (verb: string, input: object = {}): Durable<Json> =>
    hostRequest(asking, `sessions.${verb}`, { session_id: asking.facts.session, ...input });
  return {
    model: () => ask("model"),
    snapshotCurrent: () => ask("snapshot_current"),
    snapshot: (session_id) => ask("snapshot", { session_id }),
    createSession: (request) => ask("create_session", { request }),
    closeSession: (session_id) => ask("close_session", { session_id }),
    startTurn: (session_id, turn_id, input) => ask("start_turn", { session_id, turn_id, input }),
    toolCatalog: () => ask("tool_catalog"),
    sharedToolCatalog: () => ask("shared_tool_catalog"),
    setToolsAvailability: (names, availability) => ask("set_tools_availability", { names, availability }),
  };
};

const decoded = <A>(codec: Codec<A>, said: unknown, code: string, what: string): A => {
  const result = read(codec, said);
  if (E.isLeft(result)) throw new EffectError(code, `${what}: ${describe(result.left)}`);
  return result.right;
};

const emitTrigger = (asking: Asking, said: Trigger): Durable<TriggerOccurrence> => {
  const { sourceType, sourceKey, payload, idempotencyKey, source } = decoded(
    TriggerCodec,
    said,
    "trigger_invalid",
    "the trigger",
  );
  const stored = { source_type: sourceType, source_key: sourceKey, payload, idempotency_key: idempotencyKey };
  const input = toJson({ ...stored, ...(source === undefined ? {} : { source }) }, "the trigger");
  const key = asking.nextName(asking.facts.life.named(`trigger:${idempotencyKey}`));
  const occurrence = (result: EffectResult): TriggerOccurrence => {
    const { occurrence_id: occurrenceId, started_process_ids: startedProcessIds } = decoded(
      StoredOccurrence,
      valueOf(result),
      "trigger_invalid",
      "the host's answer to a trigger",
    );
    return { occurrenceId, startedProcessIds };
  };
  return asking.askFor(occurrence, key, { kind: "trigger", input }, input);
};

const completion = "the request of a completion";

/** Asks for a completion. Where the request names no session it is the call's own. */
const complete = (asking: Asking, said: unknown, usage_source: string, causedBy?: CausalRef): Durable<Json> => {
  const { session: session_id, callId: call_id } = asking.facts;
  const caused_by = causedBy ?? { type: "tool_call", session_id, call_id };
  const request = decoded(LlmRequest, toJson(said, completion), "direct_request", completion);
  const encoded = LlmRequest.encode({ ...request, session_id: request.session_id ?? session_id }) as Json;
  const named = { session_id, usage_source, caused_by, request: { hash: stableHash(encoded) } };
  const key = asking.nextName(asking.facts.life.named(directIdentity(named).replay_key));
  const input = toJson({ request: encoded, usage_source, caused_by, replay_key: key }, completion);
  return asking.askFor(valueOf, key, { kind: "host", name: "direct.complete", input }, input);
};

export const hostRequests = (asking: Asking): HostRequests => ({
  store: storeOf(asking),
  host: (name, input) => hostRequest(asking, name, input),
  sessions: sessionVerbs(asking),
  triggers: { emit: (trigger) => refusing("trigger", () => emitTrigger(asking, trigger)) },
  directCompletions: { complete: (...of) => refusing("direct", () => complete(asking, ...of)) },
});
