/** Identities that are hashes. The runtime makes them; no step does: there a hash stands in the event. */
import { type Json, hashText, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import {
  type IdentityError,
  type SessionScope,
  checkExecutionScope,
  ExecutionScope,
  processEffectId,
} from "./scope.ts";
import { AwaitEventWaitIdentity, checkWaitIdentity } from "./replay-key.ts";

/** The canonical text of what is hashed, and the hash. */
export interface Hashed {
  readonly canonical: string;
  readonly hash: string;
}

/** Returns the canonical text of a JSON value and its SHA-256. */
export const hashed = (json: Json): Hashed => {
  const canonical = stringify(json);
  return { canonical, hash: hashText(canonical) };
};

export interface AwaitKeyId {
  readonly canonical: string;
  readonly key_id: string;
}

/** The id of a wait's key: the same for equal scopes and waits, wherever it is derived. */
export const awaitKeyId = (
  scope: ExecutionScope,
  wait: AwaitEventWaitIdentity,
): E.Either<IdentityError, AwaitKeyId> => {
  const checkedScope = checkExecutionScope(scope);
  if (E.isLeft(checkedScope)) return checkedScope;
  const checkedWait = checkWaitIdentity(wait);
  if (E.isLeft(checkedWait)) return checkedWait;
  const { canonical, hash } = hashed([ExecutionScope.encode(scope), AwaitEventWaitIdentity.encode(wait)] as Json);
  return E.right({ canonical, key_id: hash });
};

export interface BatchCall {
  readonly id: string;
  readonly tool_id: string;
  readonly args: Json;
}
export interface BatchId {
  readonly canonical: string;
  readonly batch_id: string;
}

/** The id of calls that a body makes together: all of them, in their order, also those whose tool is unavailable. */
export const batchId = (calls: readonly BatchCall[]): BatchId => {
  const { canonical, hash } = hashed(calls.map(({ args, id, tool_id }) => ({ args, id, tool_id })));
  return { canonical, batch_id: `tool-batch:${hash}` };
};

// The identity of handles on their way.

/** The id of the effect that moves handles from one scope to another. */
export const transferEffectId = (from: SessionScope, to: SessionScope, processIds: readonly string[]): string =>
  processEffectId({ op: "transfer", from, to, ids_hash: hashed(processIds).hash });
