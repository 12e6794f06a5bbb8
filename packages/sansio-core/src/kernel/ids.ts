/** Ids come from names that the caller gave; so an event more or less renames nothing else. */

/** A call in its scope: `{request}:{name}`. The name is the call id at the top, `{parent}/{batch}/{id}` below. */
export type CallRef = string & { readonly __brand: "CallRef" };
/** A batch in its scope: a request, a step of a flow, or the effect of a body that made it. */
export type BatchRef = string & { readonly __brand: "BatchRef" };

/** A request id may be any text; a colon in it is escaped, so that two calls never have one ref. */
const escapeRequest = (request: string): string => request.replaceAll("%", "%25").replaceAll(":", "%3A");

/** Names a live call by its request and its own id. */
export const callRef = (request: string, name: string): CallRef => `${escapeRequest(request)}:${name}` as CallRef;
/** Names the batch of a request's calls. */
export const requestBatch = (request: string): BatchRef => `${escapeRequest(request)}:` as BatchRef;
/** The batch of a step of a flow, which has one call. */
export const stepBatch = (request: string, id: string): BatchRef => `${callRef(request, id)}:` as BatchRef;
export const effectBatch = (call: CallRef, key: string): BatchRef => `${call}/${key}` as BatchRef;

/** The parent of everything that a body does is its call: the base of all its replay keys. */
export const replayBase = (executionScope: string, name: string): string => `${executionScope}:tool:${name}`;

/** Returns the idempotency key that a tool gives to an outside service: one for all attempts of a call. */
export const toolReplayKey = (sessionId: string, callName: string, tool: string): string =>
  `lash-tool:${sessionId}:${callName}:${tool}`;

/** Owners that keep a lease of their own: a scope's new epoch says nothing of them. */
export const isExecutor = (owner: string): boolean => owner.startsWith("executor:");
