/** Starts bodies: the first run, a run after a loss, the next attempt. Decides whether a call is tried again, and when. */
import { type ToolCallOutput, type ToolFailure, withRetry } from "@pawl/tool-value";
import { observeStart, project, unapproved, unavailable } from "./finish.ts";
import { firstLife, nextLife } from "./life.ts";
import type { StreamRow } from "./effect/stream.ts";
import type { BodyState, CallIn, CallRow, FailedVersion, Patches, ResumeCause, Stop } from "./model.ts";
import { runningRow, withoutRoom } from "./row.ts";
import { type Tool, launchable, recoveryOf } from "../catalog/model.ts";
import { type Deadline, deadlineIn } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { hasRule } from "../kernel/protocol.ts";
import type { EventOf } from "../kernel/vocabulary.ts";
import { versionIn } from "../scope/model.ts";

/** Milliseconds: a number as far as these count exactly, beyond that a bigint. */
export type Millis = number | bigint;

/** A retry policy of the catalog, or one whose delays are larger than a number counts. */
export type RetryTerms =
  | { readonly type: "never" }
  | {
      readonly type: "safe" | "idempotent";
      readonly max_attempts: Millis;
      readonly base_delay_ms: Millis;
      readonly max_delay_ms: Millis;
    };

/** How often a call may be tried. */
export const maxAttempts = (terms: RetryTerms): number =>
  terms.type === "never" ? 1 : Math.max(1, Number(terms.max_attempts));

// Retries. Delays are exact to the last unit of a u64; nothing here keeps time.

/** The decision after an attempt. */
export type RetryDecision =
  | { readonly type: "keep" }
  /** The last attempt failed as well: what the caller is told instead. */
  | { readonly type: "exhausted"; readonly output: ToolCallOutput }
  | { readonly type: "again"; readonly delayMs: Millis };

const keep: RetryDecision = { type: "keep" };
const u64Max = (1n << 64n) - 1n;

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const millis = (n: bigint): Millis => (n <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(n) : n);

/** base · 2^k; no u64 is shifted by more than its bits. */
const backoff = (base: bigint, retryIndex: number): bigint => {
  if (base === 0n) return 0n;
  return retryIndex >= 64 ? u64Max : least(base << BigInt(retryIndex), u64Max);
};

/** The pause before a retry: index 0 stands after the first failure. What the failure asked for goes before backoff. */
export const retryDelayMs = (terms: RetryTerms, retryIndex: number, afterMs: Millis | undefined): Millis => {
  if (terms.type === "never") return 0;
  const wanted = afterMs === undefined ? backoff(BigInt(terms.base_delay_ms), retryIndex) : BigInt(afterMs);
  const cap = BigInt(terms.max_delay_ms);
  return millis(cap === 0n ? wanted : least(wanted, cap));
};

/** Without a key to give to the outside, an idempotent tool is not tried twice: the outside could not tell. */
export const retryTermsOf = (terms: RetryTerms, replayKey: string | undefined): RetryTerms =>
  terms.type === "idempotent" && replayKey === undefined ? { type: "never" } : terms;

type SafeFailure = ToolFailure & { readonly retry: { readonly type: "safe"; readonly after_ms?: number } };

const safeFailureOf = ({ outcome }: ToolCallOutput): SafeFailure | undefined =>
  outcome.status === "failure" && outcome.payload.retry.type === "safe" ? (outcome.payload as SafeFailure) : undefined;

/**
 * Decides whether a call is tried again after an attempt (from 1). Only a failure that says it is safe to repeat is
 * repeated.
 */
export const decideRetry = (terms: RetryTerms, attempt: number, output: ToolCallOutput): RetryDecision => {
  const failure = safeFailureOf(output);
  if (failure === undefined || terms.type === "never") return keep;
  if (attempt < maxAttempts(terms)) {
    return { type: "again", delayMs: retryDelayMs(terms, attempt - 1, failure.retry.after_ms) };
  }
  const payload = withRetry(failure, { type: "exhausted", attempts: attempt });
  return { type: "exhausted", output: { ...output, outcome: { status: "failure", payload } } };
};

// Versions of the code that runs a body.

const noVersions: readonly FailedVersion[] = [];
const noPatches: Patches = {};

/** Returns the version of a tool that is here, if there is one and it is known. */
export const versionOf = (draft: Draft, { id }: Tool): string | undefined => versionIn(draft.scope.versions, id);

// Launching.

/** Asks for a body to be run. */
export const execute = (draft: Draft, row: CallRow, body: BodyState, cause?: ResumeCause): void => {
  const { manifest, attempt, run, payload } = body;
  draft.emit({
    type: "tool.execute",
    call: row.call.ref,
    attempt,
    run,
    tool_id: manifest.id,
    tool: row.tool,
    args: row.args,
    payload,
    max_attempts: maxAttempts(manifest.retry_policy),
    recovery: recoveryOf(manifest),
    ...(cause === undefined ? {} : { cause }),
  });
};

const noWaits: readonly string[] = [];
const noStreams: readonly StreamRow[] = [];

const freshBody = (draft: Draft, { manifest, payload, argsHash }: CallIn<"ready">): BodyState => ({
  manifest,
  payload,
  argsHash,
  attempt: 1,
  run: 1,
  life: firstLife,
  waits: noWaits,
  resumes: 0,
  hasRecord: false,
  startedAt: draft.at,
  open: [],
  settled: PersistentMap.empty(),
  streams: noStreams,
  version: versionOf(draft, manifest),
  failed: noVersions,
  patches: noPatches,
});

export const running = (draft: Draft, row: CallRow, body: BodyState): CallIn<"running"> =>
  runningRow(row, body, { owner: draft.scope.owner, key: undefined, cancelled: undefined });

const takePlace = (draft: Draft, { call }: CallRow, attempt: number): void =>
  draft.emit({ type: "place.take", call: call.ref, attempt });

/** Launches a call that is ready, or puts it in the queue of its tool. */
export const launch = (draft: Draft, row: CallIn<"ready">): CallRow => {
  if (launchable(draft.catalog, row.manifest)?.queue === undefined) return launchWithPlace(draft, row);
  const { call, tool, args, observed, manifest, payload, argsHash } = row;
  takePlace(draft, row, 1);
  return { call, tool, args, observed, phase: "queued", manifest, payload, argsHash, since: draft.at };
};

/** The first run of a call; its tool may have gone since it was prepared, or want a person's word now. */
export const launchWithPlace = (draft: Draft, row: CallIn<"ready">): CallRow => {
  const manifest = launchable(draft.catalog, row.manifest);
  if (manifest === undefined) return project(draft, row, unavailable());
  const isAsked = row.manifest.policy === "requires_approval";
  if (manifest.policy === "requires_approval" && !isAsked) return project(draft, row, unapproved);
  const body = freshBody(draft, { ...row, manifest });
  observeStart(draft, row);
  const next = running(draft, row, body);
  execute(draft, next, body);
  return next;
};

/** A call whose body is to start again, at once or after a pause. */
export const resuming = (
  draft: Draft,
  row: CallRow,
  again: {
    readonly body: BodyState;
    readonly cause: ResumeCause;
    readonly pauseMs?: number;
    readonly cancelled?: Stop | undefined;
  },
): CallIn<"resuming"> => {
  const { cause, pauseMs = 0, cancelled } = again;
  const body = { ...again.body, run: again.body.run + 1, version: versionOf(draft, again.body.manifest) };
  const { call, tool, args, observed } = row;
  const due = pauseMs > 0 ? deadlineIn(draft, pauseMs) : undefined;
  if (due === undefined) execute(draft, row, body, cause);
  return { call, tool, args, observed, phase: "resuming", body, cause, due, cancelled };
};

// Bodies that start again: the next attempt, after a pause, with other arguments.

const noRecord = { resumes: 0, hasRecord: false } as const;

/** Keeps what the last attempt settled, and the steps that must not run twice, for the next one. */
export const backingOff = (row: CallRow, body: BodyState, due: Deadline | undefined): CallIn<"backing_off"> => {
  const { call, tool, args, observed } = row;
  const open = body.open.filter((effect) => effect.recovery === "once");
  return { call, tool, args, observed, phase: "backing_off", body: { ...withoutRoom(body), open }, due };
};

/** Begins the next attempt, or puts the call in the queue of its tool for that. */
export const nextAttempt = (draft: Draft, row: CallRow, body: BodyState): CallIn<"running" | "backing_off"> => {
  if (body.manifest.queue === undefined) return nextAttemptWithPlace(draft, row, body);
  takePlace(draft, row, body.attempt + 1);
  return backingOff(row, body, undefined);
};

export const nextAttemptWithPlace = (draft: Draft, row: CallRow, body: BodyState): CallIn<"running"> => {
  const open = body.open.filter((effect) => effect.recovery === "once");
  const version = versionOf(draft, body.manifest);
  const fresh = { attempt: body.attempt + 1, run: 1, ...noRecord, open, version, failed: noVersions };
  const next = running(draft, row, { ...body, ...fresh });
  execute(draft, next, next.body);
  return next;
};

/** The pause is over. */
export const pauseOver = (draft: Draft, row: CallIn<"resuming">): CallIn<"resuming"> => {
  execute(draft, row, row.body, row.cause);
  return { ...row, due: undefined };
};

/** `ctx.continueAs`: the body starts anew under the same call, with nothing remembered. */
export const continued = (draft: Draft, row: CallIn<"running">, event: EventOf<"call.continued">): CallRow => {
  const life = hasRule(draft.scope.protocol, "lives") ? nextLife(draft, row.body, event) : {};
  const nothing: Pick<BodyState, "open" | "settled" | "failed" | "patches"> = {
    open: [],
    settled: PersistentMap.empty(),
    failed: noVersions,
    patches: noPatches,
  };
  const body = { ...row.body, ...nothing, ...life };
  return resuming(draft, { ...row, args: event.args }, { body, cause: "continued" });
};
