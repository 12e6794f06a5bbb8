/** The messages between a page and its worker that runs tools. */
import type { Offer, OfferedRun } from "@pawl/runtime/driver";
import { type Codec, ToolCallOutput, array, json, optional, string, tagged, u64 } from "@pawl/tool-value";

export type ToWorker =
  /** Asks the worker to hold a lock of this name for as long as it lives. */
  | { readonly type: "begin"; readonly lock: string }
  | ({ readonly type: "run" } & Offer)
  | ({ readonly type: "cancel" } & OfferedRun);

export type FromWorker =
  /** Reports that the worker holds its lock, and names its tools. */
  | { readonly type: "ready"; readonly tools: readonly string[] }
  | ({ readonly type: "settled"; readonly output: ToolCallOutput; readonly duration_ms: number } & OfferedRun);

const run = { scope: string, call: string, attempt: u64, run: u64 } as const;

export const ToWorker: Codec<ToWorker> = tagged<ToWorker, "type">("message to a worker", "type", {
  begin: { lock: string },
  run: { ...run, tool_id: string, tool: string, args: json, payload: json, completion_key: optional(string) },
  cancel: run,
});

export const FromWorker: Codec<FromWorker> = tagged<FromWorker, "type">("message of a worker", "type", {
  ready: { tools: array(string) },
  settled: { ...run, output: ToolCallOutput, duration_ms: u64 },
});

export const keyOf = ({ scope, call, attempt, run: number }: OfferedRun): string =>
  JSON.stringify([scope, call, attempt, number]);
