/** Whether a call is tried again, and when. Delays are exact to the last unit of a u64; nothing here keeps time. */
import { type ToolCallOutput, type ToolFailure, withRetry } from "@pawl/tool-value";
import { type Millis, type RetryTerms, maxAttempts } from "./attempt.ts";

/** What follows from the output of an attempt. */
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

/** What becomes of a call whose attempt (from 1) ended so. Only a failure that says it is safe to repeat is repeated. */
export const decideRetry = (terms: RetryTerms, attempt: number, output: ToolCallOutput): RetryDecision => {
  const failure = safeFailureOf(output);
  if (failure === undefined || terms.type === "never") return keep;
  if (attempt < maxAttempts(terms)) {
    return { type: "again", delayMs: retryDelayMs(terms, attempt - 1, failure.retry.after_ms) };
  }
  const payload = withRetry(failure, { type: "exhausted", attempts: attempt });
  return { type: "exhausted", output: { ...output, outcome: { status: "failure", payload } } };
};
