/**
 * Triggers: a body says that something has happened, and the host's store notes the occurrence and starts what waits for it.
 * The answer is on record, so that a body that runs again sets off nothing twice.
 */
import { type Codec, type Json, array, record, stableHash, string } from "@pawl/tool-value";
import type { HostAsked } from "./host.ts";

export interface Trigger {
  readonly sourceType: string;
  readonly sourceKey: string;
  readonly payload: Json;
  /** The same key of the same source is the same occurrence. */
  readonly idempotencyKey: string;
  readonly source?: Json;
}

export interface TriggerOccurrence {
  readonly occurrenceId: string;
  readonly startedProcessIds: readonly string[];
}

/** Keeps the triggers of a host. */
export interface TriggerStore {
  /** Notes that a trigger went off. It may be told again after a crash. */
  readonly emit: (trigger: Trigger, asked: HostAsked) => Promise<TriggerOccurrence>;
}

/** On record. */
interface StoredOccurrence {
  readonly occurrence_id: string;
  readonly started_process_ids: readonly string[];
}

export const StoredOccurrence: Codec<StoredOccurrence> = record<StoredOccurrence>("struct TriggerOccurrence", {
  occurrence_id: string,
  started_process_ids: array(string),
});

interface StoredTrigger {
  readonly source_type: string;
  readonly source_key: string;
  readonly payload: Json;
  readonly idempotency_key: string;
  readonly source?: Json;
}

/** Asks a store, in the names of the record. */
export const emitTo = async ({ emit }: TriggerStore, input: Json, asked: HostAsked): Promise<Json> => {
  const stored = input as unknown as StoredTrigger;
  const { source_type: sourceType, source_key: sourceKey, payload, idempotency_key: idempotencyKey, source } = stored;
  const trigger = { sourceType, sourceKey, payload, idempotencyKey, ...(source === undefined ? {} : { source }) };
  const { occurrenceId, startedProcessIds } = await emit(trigger, asked);
  return { occurrence_id: occurrenceId, started_process_ids: [...startedProcessIds] };
};

/**
 * A store that needs none: an occurrence is on record in the log of whoever sets it off, and in the reply of its request
 * (`triggers`). It has one id for all who set it off in a session, and starts nothing.
 */
export const recordedTriggers: TriggerStore = {
  emit: async ({ sourceType, sourceKey, idempotencyKey }, { session }) => ({
    occurrenceId: stableHash([session, sourceType, sourceKey, idempotencyKey]),
    startedProcessIds: [],
  }),
};
