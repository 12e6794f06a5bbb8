/** A wake: what a session is told of its process's event, once. Its id is a hash, and the runtime's. */
import { type SessionScope, sessionScopeId } from "../identity/session-scope.ts";
import type { ProcessEvent } from "./model.ts";

export interface WakeDelivery {
  readonly target: SessionScope;
  readonly process_id: string;
  readonly sequence: number;
  readonly event_type: string;
  readonly input: string;
  /** Under the target: a wake with the same key was told already. */
  readonly dedupe_key: string;
}

/** What a wake is called in the outbox, and afterwards in the finished index. */
export const wakeKey = ({ target, dedupe_key }: Pick<WakeDelivery, "target" | "dedupe_key">): string =>
  `wake:${sessionScopeId(target)}:${dedupe_key}`;

/** The wake that an event makes, where it makes one and there is somebody to wake. */
export const wakeDeliveryOf = (event: ProcessEvent, target: SessionScope | undefined): WakeDelivery | undefined => {
  const { wake } = event.semantics;
  if (wake === undefined || target === undefined) return undefined;
  const { process_id, sequence, event_type } = event;
  return { target, process_id, sequence, event_type, input: wake.input, dedupe_key: wake.dedupe_key };
};

/** A wake as a model reads it. */
export const wakeText = (wake: Omit<WakeDelivery, "target" | "dedupe_key">): string =>
  [
    "Background process wake",
    `Process: ${wake.process_id}`,
    `Event: ${wake.event_type} #${wake.sequence}`,
    "Wake input:",
    wake.input,
  ].join("\n");
