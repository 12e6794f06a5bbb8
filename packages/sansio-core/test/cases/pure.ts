/** Ops on retries, schedules and identities. */
import { knownFields, knownName, withFields } from "@pawl/testkit";
import * as v from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import {
  type Millis,
  type RetryTerms,
  decideRetry,
  maxAttempts,
  retryDelayMs,
  retryTermsOf,
} from "../../src/call/launch.ts";
import { AwaitEventWaitIdentity, preparedBatch, promiseKey, toolReplayKey } from "../../src/identity/replay-key.ts";
import { ExecutionScope } from "../../src/identity/scope.ts";
import { awaitKeyId, batchId } from "../../src/identity/hash.ts";
import { type Input, listOf, objectOf, textOf } from "./input.ts";

const termsOf = (input: Input): RetryTerms => input["policy"] as unknown as RetryTerms;

const replayKeyOf = (input: Input): string | undefined => {
  const callId = textOf(input["call_id"]);
  const [session = "s", tool = "t"] = [textOf(input["session_id"]), textOf(input["tool_name"])];
  return callId === undefined ? undefined : toolReplayKey(session, callId, tool);
};

const failed = v.toolFailure("execution", "failed", "failed");
const failing = (retry: v.ToolRetryDisposition): v.ToolCallOutput => v.failureOutput(v.withRetry(failed, retry));

const namedOutputs: { readonly [name: string]: v.ToolCallOutput } = {
  safe: failing({ type: "safe" }),
  ok: v.successOutput("ok"),
  success: v.successOutput("ok"),
  cancelled: v.cancelledOutput(v.runtimeCancellation("cancelled")),
};
const finalFailures = ["never", "failure", "error"];

/** A retry disposition as a case names it: by its type, by its delay, or as a whole, under a key of its own or not. */
const dispositionIn = (fields: Input): Input => {
  knownFields(fields, ["retry", "safe", "type", "after_ms", "attempts"]);
  const { retry = fields["safe"] ?? fields["type"] ?? null, ...rest } = fields;
  if (typeof retry === "number") return { type: "safe", after_ms: retry };
  return { ...rest, type: textOf(retry) ?? "safe", ...objectOf(retry) };
};

const decoded = <A>(codec: v.Codec<A>, json: v.Json): A =>
  E.getOrElseW((error: v.ValueError): never => {
    throw new TypeError(v.describe(error));
  })(v.read(codec, json));

/** A result as a case names it: a text, a retry disposition, or a whole output. `undefined` is a pending one. */
const outputOf = (result: v.Json): v.ToolCallOutput | undefined => {
  if (result === "pending") return undefined;
  if (typeof result === "string") {
    const name = knownName("word", result, [...Object.keys(namedOutputs), ...finalFailures]);
    return namedOutputs[name] ?? failing({ type: "never" });
  }
  const fields = objectOf(result);
  if ("outcome" in fields) return decoded(v.ToolCallOutput, result);
  const named = Object.keys(namedOutputs).find((name) => name !== "safe" && name in fields);
  return named === undefined ? failing(decoded(v.ToolRetryDisposition, dispositionIn(fields))) : namedOutputs[named];
};

const retryOf = (output: v.ToolCallOutput | undefined): v.ToolRetryDisposition | null =>
  output?.outcome.status === "failure" ? output.outcome.payload.retry : null;

/** Runs attempts with these results under the decisions of the core. */
const runRetries = (terms: RetryTerms, results: readonly v.Json[]): unknown => {
  const sleeps: Millis[] = [];
  for (let attempt = 1; ; attempt++) {
    const output = outputOf(results[Math.min(attempt, results.length) - 1] ?? null);
    const decision = output === undefined ? ({ type: "keep" } as const) : decideRetry(terms, attempt, output);
    if (decision.type === "again") {
      if (decision.delayMs > 0) sleeps.push(decision.delayMs);
      continue;
    }
    const final = decision.type === "exhausted" ? decision.output : output;
    const status = final === undefined ? "pending" : v.statusOf(final);
    const seen = { attempts: attempt, max_attempts: maxAttempts(terms), sleeps_ms: sleeps, status };
    return { ...seen, final_retry: retryOf(final) };
  }
};

const argsOf = (call: Input): E.Either<v.ValueError, v.Json> =>
  typeof call["args_json"] === "string" ? v.parse(call["args_json"]) : E.right(call["args"] ?? null);

export const pureAdapters = {
  "retry.delay_ms": withFields(["policy", "retry_index", "after_ms"], (input: Input) => {
    const afterMs = (input["after_ms"] ?? undefined) as Millis | undefined;
    return E.right({ delay_ms: retryDelayMs(termsOf(input), input["retry_index"] as number, afterMs) });
  }),
  "retry.replay_key": withFields(["session_id", "call_id", "tool_name"], (input: Input) =>
    E.right({ replay_key: replayKeyOf(input) ?? null }),
  ),
  "retry.run": withFields(["policy", "results", "call_id", "replay_key"], (input: Input) => {
    const hasKey = input["call_id"] !== null && input["replay_key"] !== null;
    return E.right(runRetries(retryTermsOf(termsOf(input), hasKey ? "key" : undefined), listOf(input["results"])));
  }),
  "batch.id": withFields(["calls"], (input: Input) =>
    pipe(
      listOf(input["calls"]),
      E.traverseArray((call) =>
        E.map((args: v.Json) => {
          const { id, tool_id } = objectOf(call);
          return { id: id as string, tool_id: tool_id as string, args };
        })(argsOf(objectOf(call))),
      ),
      E.map(batchId),
    ),
  ),
  "prepared_batch.new": withFields(["batch_id", "call_ids"], (input: Input) => {
    const calls = listOf(input["call_ids"]).map((id) => {
      return { call_id: id as string, tool_id: "tool:t", tool_name: "t", args: {}, prepared_payload: null };
    });
    const batch = preparedBatch(input["batch_id"] as string, calls);
    return E.right({ batch_id: batch.batch_id, replay_suffixes: batch.calls.map((call) => call.replay_suffix) });
  }),
  "await_key.id": withFields(["scope", "wait"], (input: Input) =>
    pipe(
      E.Do,
      E.bindW("scope", () => v.read(ExecutionScope, input["scope"])),
      E.bindW("wait", () => v.read(AwaitEventWaitIdentity, input["wait"])),
      E.chainW(({ scope, wait }) => awaitKeyId(scope, wait)),
      E.map((key) => ({ ...key, promise_key: promiseKey(key.key_id) })),
    ),
  ),
};
