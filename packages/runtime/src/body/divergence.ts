/**
 * Divergence: a run that does not do again what the log has of it, because its tool is not deterministic between its
 * requests, or has changed. There are four ways to diverge:
 *
 *   another request   the body asks for something else under a key that is on record
 *   too early         it asks for something new while a recorded request has not been made again
 *   ended             it ends without a recorded request
 *   quiet             it makes no request for `holdMs` while the log expects one
 *
 * The core finds the first by the record of the call (`ask` in its call/ask.ts), the run the others by its `ReplayOrder`.
 * `call.diverged` says at which request, what was expected and what was found, and the run is over.
 */
import type { Ask } from "@pawl/sansio-core";
import type { Request } from "./record.ts";

export type Divergence = Pick<Extract<Ask, { readonly type: "diverged" }>, "expected" | "found">;

const nameOf = ({ key, hash, effect }: Request): string => `${effect.kind} \`${key}\` with input ${hash}`;

/** Returns how a request differs from the record, if that is the verdict on it. */
export const divergenceIn = (verdict: Ask): Divergence | undefined =>
  verdict.type === "diverged" ? verdict : undefined;

/** Compares two requests that one run made under the same key. */
export const differsFrom = (before: Request, request: Request): Divergence | undefined => {
  const isSame = before.hash === request.hash && before.effect.kind === request.effect.kind;
  return isSame ? undefined : { expected: nameOf(before), found: nameOf(request) };
};

const recorded = (missing: string | undefined): string => `the recorded \`${missing}\``;

export const askedBefore = (missing: string | undefined, { key, effect }: Request): Divergence => ({
  expected: recorded(missing),
  found: `${effect.kind} \`${key}\``,
});

export const endedBefore = (missing: string | undefined): Divergence => ({
  expected: recorded(missing),
  found: "its end",
});

export const quiet: Divergence = { expected: "the request that its log records next", found: "no request at all" };
