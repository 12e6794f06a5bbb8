/** What a client is told of an error. What is nobody's business but the host's is logged, and not told. */
import {
  type Log,
  Overloaded,
  OwnedElsewhere,
  Quarantined,
  Refused,
  ScopeLost,
  ScopeMoved,
  ScopeMoving,
  SealedError,
  entryOf,
} from "@pawl/runtime";
import type { HostError } from "@pawl/wire/frame";

/** The outcome is unknown, and found out by asking again. */
const retryAfterMs = 100;
/** An owner that nobody knows how to reach may go, or lose its lease. */
const ownerRetryMs = 1000;

const ownedElsewhere = ({ code, message, address }: OwnedElsewhere): Omit<HostError, "id"> =>
  address === undefined ? { code, message, retry_after_ms: ownerRetryMs } : { code, message, address };

/** What its log holds is not told: whoever asks may not be one to read it. */
const readOnly = "today's core does not accept its log, so it is read-only: `pawl doctor` says what can be done";

/** Where keys lie is the host's business. */
const keyUnavailable = "the scope's values are sealed, and the host has no key that opens them: its log says why";
const keyDeleted = "the scope's key was deleted: what it said can not be read any more";

export const hostErrorOf = (thrown: unknown, log: Log): Omit<HostError, "id"> => {
  const isMoving = thrown instanceof ScopeMoving || (thrown instanceof Refused && thrown.code === "scope_is_moving");
  if (isMoving) return { code: thrown.code, message: thrown.message, retry_after_ms: ownerRetryMs };
  if (thrown instanceof Overloaded)
    return { code: thrown.code, message: thrown.message, retry_after_ms: thrown.retryAfterMs };
  if (thrown instanceof ScopeMoved) return { code: thrown.code, message: thrown.message, address: thrown.to };
  if (thrown instanceof Refused) return { code: thrown.code, message: thrown.message };
  if (thrown instanceof ScopeLost) return { code: thrown.code, message: thrown.message, retry_after_ms: retryAfterMs };
  if (thrown instanceof OwnedElsewhere) return ownedElsewhere(thrown);
  if (thrown instanceof SealedError && thrown.code === "key_gone") return { code: thrown.code, message: keyDeleted };
  log(entryOf("host.internal_error", {}, thrown));
  if (thrown instanceof Quarantined) return { code: thrown.code, message: `the scope is quarantined: ${readOnly}` };
  if (thrown instanceof SealedError) return { code: thrown.code, message: keyUnavailable };
  return { code: "internal_error", message: "the host failed to answer: its log says why" };
};

/** What a closing may say, in UTF-8; a socket throws where it is longer. */
const maxReasonBytes = 123;

/** Cut between characters. */
export const closeReasonOf = (message: string): string =>
  new TextDecoder().decode(Buffer.from(message).subarray(0, maxReasonBytes), { stream: true });
