/** The events that most scenarios tell, with what is the same in all of them left out. */
import { type Json, type PendingCompletion, type Resolution, type ToolCallOutput, defaultPendingCompletion, failureOutput, safeRetryFailure, successOutput } from "@pawl/tool-value";
import type { Event } from "../../src/kernel/vocabulary.ts";
import type { EffectSpec } from "../../src/call/effect/effect.ts";
import type { ResumeCause } from "../../src/call/model.ts";

/** `r:c1` is in its first attempt and run, `r:c1 2.3` in its second attempt and third run. */
const runOf = (text: string): { readonly call: string; readonly attempt: number; readonly run: number } => {
  const [call = "", at = "1.1"] = text.split(" ");
  const [attempt = 1, run = 1] = at.split(".").map(Number);
  return { call, attempt, run };
};

/** A hash as long as one is. */
const hashOf = (seed: string): string => seed.padEnd(64, "0").slice(0, 64);

/** A request: call ids with the names of their tools. */
export const submit = (request: string, calls: { readonly [id: string]: string }): Event => ({
  type: "request.submitted",
  request,
  hash: hashOf("a5c1"),
  calls: Object.entries(calls).map(([id, name], n) => ({ id, tool: name, args: { n } })),
});
export const acked = (request: string): Event => ({ type: "reply.acked", request });
export const cancelRequest = (request: string): Event => ({ type: "request.cancelled", request, by: "user:ada" });

export const failed: ToolCallOutput = failureOutput(safeRetryFailure("execution", "busy", "try again"));
export const settle = (run: string, output: ToolCallOutput = successOutput({ ok: true }), ms = 7): Event => ({
  type: "call.settled",
  ...runOf(run),
  result: { type: "done", output },
  duration_ms: ms,
});
export const settleLate = (run: string): Event => ({
  type: "call.settled_late",
  ...runOf(run),
  output: successOutput("too late"),
  duration_ms: 99,
});
export const pend = (run: string, key: string, pending: Partial<PendingCompletion> = {}): Event => ({
  type: "call.settled",
  ...runOf(run),
  result: { type: "pending", key, pending: { ...defaultPendingCompletion, ...pending } },
  duration_ms: 3,
});

export const ask = (run: string, key: string, effect: EffectSpec): Event => ({
  type: "effect.requested",
  ...runOf(run),
  key,
  hash: hashOf("beef"),
  effect,
});
export const step = (recovery: "again" | "idempotent" | "once" = "again", input: Json = null): EffectSpec => ({
  kind: "step",
  recovery,
  input,
});
export const stepped = (run: string, key: string, value: Json = { done: key }): Event => ({
  type: "step.settled",
  ...runOf(run),
  key,
  result: { status: "ok", value },
});
export const stepFailed = (run: string, key: string): Event => ({
  type: "step.settled",
  ...runOf(run),
  key,
  result: { status: "err", error: { code: "broken", message: "it broke" } },
});
export const resumed = (run: string, cause: ResumeCause, owner: string): Event => ({
  type: "call.resumed",
  ...runOf(run),
  cause,
  owner,
});
export const cleanedUp = (run: string): Event => ({ type: "call.cleaned_up", ...runOf(run) });
export const suspended = (run: string): Event => ({ type: "call.suspended", ...runOf(run) });
export const continued = (run: string, args: Json): Event => ({ type: "call.continued", ...runOf(run), args });
export const reused = (call: string, attempt: number, key: string): Event => ({
  type: "effect.reused",
  call,
  attempt,
  key,
});
export const resolved = (key: string, resolution: Resolution): Event => ({
  type: "wait.resolved",
  key,
  resolution,
  by: "host",
});
export const ok = (payload: Json): Resolution => ({ status: "ok", payload });
