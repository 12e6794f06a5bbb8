/** Maps errors to what a client is told. Internal errors are logged and not told. */
import {
  type Log,
  Overloaded,
  OwnedElsewhere,
  Quarantined,
  Refused,
  ScopeLost,
  ScopeMoved,
  ScopeMoving,
} from "@pawl/runtime";
import { SealedError, entryOf } from "@pawl/runtime/driver";
import type { HostError } from "../frame/index.ts";

/** The outcome is unknown until the client asks again. */
const retryAfterMs = 100;
/** An owner without an address may leave, or lose its lease. */
const ownerRetryMs = 1000;

const ownedElsewhere = ({ code, message, address }: OwnedElsewhere): Omit<HostError, "id"> =>
  address === undefined ? { code, message, retry_after_ms: ownerRetryMs } : { code, message, address };

/** Tells whether the store of the journal is away: it is asked again, and nothing is lost. */
const isStoreAway = (thrown: unknown): boolean =>
  thrown instanceof Error && thrown.name === "PostgresError" && "code" in thrown && thrown.code === "unavailable";

const storeAway = {
  code: "journal_unavailable",
  message: "the journal's database cannot be reached: its log says why; the question is asked again",
  retry_after_ms: ownerRetryMs,
};

/** The log's content is not told: the client may not be allowed to read it. */
const readOnly = "the current core rejects its log, so it is read-only: run `pawl doctor`";

/** The place of keys is not told. */
const keyUnavailable = "the scope's values are sealed, and the host has no key that opens them: its log says why";
const keyDeleted = "the scope's key was deleted: its values can never be read again";

/** Returns what a client is told of an error. One that is the host's own is logged, and not told. */
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
  if (isStoreAway(thrown)) return storeAway;
  if (thrown instanceof Quarantined) return { code: thrown.code, message: `the scope is quarantined: ${readOnly}` };
  if (thrown instanceof SealedError) return { code: thrown.code, message: keyUnavailable };
  return { code: "internal_error", message: "the host failed to answer: its log says why" };
};

/** Returns the address of the host that owns the scope, if the error says that another one does. */
export const ownerOf = (thrown: unknown): string | undefined =>
  thrown instanceof OwnedElsewhere ? thrown.address : undefined;

/** Tells whether a scope left this host, or cannot be opened here any more, because the host stops. */
export const isLetGo = (thrown: unknown): boolean =>
  thrown instanceof ScopeLost || (thrown instanceof Refused && thrown.code === "closing");
