import {
  cancelledOutput,
  failureOutput,
  runtimeCancellation,
  safeRetryFailure,
  successOutput,
  toolFailure,
} from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type RetryTerms, decideRetry, maxAttempts, retryDelayMs, retryTermsOf } from "../src/call/launch.ts";
import { retrySleepSuffix } from "../src/identity/replay-key.ts";

const u64Max = 18_446_744_073_709_551_615n;
const safe: RetryTerms = { type: "safe", max_attempts: 3, base_delay_ms: 100, max_delay_ms: 250 };
const uncapped: RetryTerms = { ...safe, max_delay_ms: 0 };
const never: RetryTerms = { type: "never" };
const transient = failureOutput(safeRetryFailure("external", "busy", "try again"));

describe("the number of attempts", () => {
  it("is one under the policy never, and at least one under any", () => {
    expect(maxAttempts(never)).toBe(1);
    expect(maxAttempts({ ...safe, max_attempts: 0 })).toBe(1);
    expect(maxAttempts(safe)).toBe(3);
  });
});

describe("the delay before a retry", () => {
  it("doubles with each retry up to the cap", () => {
    expect([0, 1, 2, 3].map((k) => retryDelayMs(safe, k, undefined))).toEqual([100, 200, 250, 250]);
  });
  it("is what the failure asked for, under the same cap", () => {
    expect(retryDelayMs(safe, 5, 70)).toBe(70);
    expect(retryDelayMs(safe, 0, 0)).toBe(0);
    expect(retryDelayMs(safe, 0, 1000)).toBe(250);
    expect(retryDelayMs(uncapped, 0, 1000)).toBe(1000);
    expect(retryDelayMs(uncapped, 0, u64Max)).toBe(u64Max);
  });
  it("is nothing under the policy never", () => {
    expect(retryDelayMs(never, 5, 1000)).toBe(0);
  });
  it("is exact beyond what a number counts, and saturates at the largest u64", () => {
    expect(retryDelayMs(uncapped, 46, undefined)).toBe(7_036_874_417_766_400);
    expect(retryDelayMs(uncapped, 47, undefined)).toBe(14_073_748_835_532_800n);
    expect(retryDelayMs(uncapped, 57, undefined)).toBe(14_411_518_807_585_587_200n);
    expect(retryDelayMs(uncapped, 58, undefined)).toBe(u64Max);
    expect(retryDelayMs(uncapped, 4_294_967_295, undefined)).toBe(u64Max);
    expect(retryDelayMs({ ...uncapped, base_delay_ms: u64Max }, 1, undefined)).toBe(u64Max);
  });
  it("stays nothing where the base is nothing", () => {
    expect(retryDelayMs({ ...uncapped, base_delay_ms: 0 }, 100, undefined)).toBe(0);
  });
});

describe("the decision after an attempt", () => {
  it("is to go on after a failure that says it is safe", () => {
    expect(decideRetry(safe, 1, transient)).toEqual({ type: "again", delayMs: 100 });
    expect(decideRetry(safe, 2, transient)).toEqual({ type: "again", delayMs: 200 });
  });
  it("follows the pause that the failure names", () => {
    const output = failureOutput(safeRetryFailure("external", "busy", "try again", 7));
    expect(decideRetry(safe, 2, output)).toEqual({ type: "again", delayMs: 7 });
  });
  it("says after the last attempt that all were used, and changes nothing else", () => {
    const control = { type: "finish", value: 1 } as const;
    const payload = { ...toolFailure("external", "busy", "try again"), retry: { type: "exhausted", attempts: 3 } };
    expect(decideRetry(safe, 3, { ...transient, control })).toEqual({
      type: "exhausted",
      output: { outcome: { status: "failure", payload }, control },
    });
  });
  it("is to keep what is no failure, and a failure that does not say it is safe", () => {
    const failed = failureOutput(toolFailure("execution", "boom", "boom"));
    for (const output of [successOutput(1), cancelledOutput(runtimeCancellation("stop")), failed]) {
      expect(decideRetry(safe, 1, output)).toEqual({ type: "keep" });
    }
  });
  it("is to keep a safe failure as it is under the policy never", () => {
    expect(decideRetry(never, 1, transient)).toEqual({ type: "keep" });
  });
});

it("an idempotent tool without a key is tried once", () => {
  const idempotent: RetryTerms = { ...safe, type: "idempotent" };
  expect(retryTermsOf(idempotent, undefined)).toEqual(never);
  expect(retryTermsOf(idempotent, "k")).toBe(idempotent);
  expect(retryTermsOf(safe, undefined)).toBe(safe);
});

it("a pause is named by its tool and the attempt that failed", () => {
  expect(retrySleepSuffix("echo", 2)).toBe("echo:attempt:2:sleep");
});
