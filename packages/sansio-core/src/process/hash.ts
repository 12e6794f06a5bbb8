/** Hashes that processes are known by. The runtime makes them; no step does. */
import type { Json } from "@pawl/tool-value";
import { ProcessRegistration } from "../message/process.ts";
import { coreEvent } from "./registration.ts";
import type { ProcessEventAppendRequest } from "./model.ts";
import { type Hashed, hashed } from "../identity/hash.ts";
import { type SessionScope, cancelKey, sessionScopeId } from "../identity/scope.ts";

/** Tells two events under one replay key apart. */
export const eventPayloadHash = (eventType: string, payload: Json): Hashed => hashed([eventType, payload]);

/** Hashes a registration with its core event types. */
export const registrationHash = (completed: ProcessRegistration): string =>
  hashed(ProcessRegistration.encode(completed) as Json).hash;

/** The name of a captured environment. */
export const envRef = (spec: Json): string => `process-env:sha256:${hashed(spec).hash}`;

export interface CancelRequest {
  readonly request: ProcessEventAppendRequest;
  readonly payload: Hashed;
}

/** The event that asks a process to end. The same reason twice is one event; another reason is another. */
export const cancelRequest = (processId: string, reason: string | null): CancelRequest => {
  const payload = { reason };
  const payloadHash = eventPayloadHash(coreEvent.cancelRequested, payload);
  const replay = { key: cancelKey(processId, payloadHash.hash) };
  return { request: { event_type: coreEvent.cancelRequested, payload, replay }, payload: payloadHash };
};

export interface WakeId {
  readonly canonical: string;
  readonly wake_id: string;
}

/** A wake's id: one for each target and dedupe key. */
export const wakeId = (target: SessionScope, dedupeKey: string): WakeId => {
  const { canonical, hash } = hashed([sessionScopeId(target), dedupeKey]);
  return { canonical, wake_id: `wake:${hash}` };
};
