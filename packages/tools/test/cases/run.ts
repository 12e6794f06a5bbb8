/** Background runs: recorded, reported, lost. */
import type { Json, JsonObject } from "@pawl/tool-value";
import {
  type Output,
  type RunOutcome,
  artifactsOf,
  codePoints,
  failedRun,
  logOf,
  signalText,
  truncationNote,
} from "@pawl/sansio-core/driver";
import { isCandidate, reap } from "@pawl/tools";
import { type Adapters, knownFields, knownName, withFields } from "@pawl/testkit";
import * as E from "fp-ts/lib/Either.js";
import { type Result, list, number, object, text, textIn } from "./input.ts";
import { messagesOf } from "./finalize.ts";
import { taskIn } from "./task.ts";

const cap = 262_144;

const writesIn = (writes: Json | undefined): readonly Output[] =>
  list(writes).map((write) => {
    const [stream, delta] = list(write);
    return { stream: text(stream), delta: textIn(delta) };
  });

const finishes = ["success", "completed", "cancel", "canceled", "cancelled", "failure", "failed"] as const;

/** The result of a run whose log alone matters; the result of a failed run does not matter at all. */
const endOfLog = (finish: Json | undefined, raw: string | undefined): RunOutcome => {
  switch (knownName("word", finish ?? "success", finishes)) {
    case "cancel":
    case "canceled":
    case "cancelled":
      return { type: "canceled" };
    case "failure":
    case "failed":
      return failedRun("failed");
    default: {
      const done = { type: "succeeded", summary: "", result: null } as const;
      return raw === undefined ? done : { ...done, raw_output: raw };
    }
  }
};

const outputLog = ({ writes, finish, raw_output: raw }: JsonObject): Result => {
  const all = writesIn(writes);
  const log = logOf(all, cap);
  const isRaw = raw !== undefined && raw !== null;
  const outcome = endOfLog(finish, isRaw ? textIn(raw) : undefined);
  const final = artifactsOf(outcome, all, cap).log;
  const note = truncationNote(cap);
  const suffix = final.endsWith(note) ? note : "";
  return E.right({
    final_log: final,
    truncated: log.isTruncated || final.endsWith(note),
    log_code_points: log.length,
    final_log_code_points: codePoints(final),
    final_log_suffix: final.startsWith(log.text) && !isRaw ? final.slice(log.text.length) : suffix,
    emoji_kept: [...log.text].filter((char) => char === "😀").length,
  });
};

const signal = async (input: JsonObject): Promise<Result> => {
  const { status, run_id: run, title, tool, summary, signal_on_completion: wanted, platform_store: platform } = input;
  if (wanted === false || platform === null) return E.right({ messages: await messagesOf(input) });
  return E.right(
    signalText({
      status: knownName("word", status, ["completed", "failed", "canceled"]),
      run: text(run),
      title: text(title),
      tool: text(tool),
      summary: text(summary),
    }),
  );
};

const reaped = ({ task, age_s: age, can_reattach: canReattach, start }: JsonObject): Result => {
  knownFields(object(start), ["error"]);
  const { heartbeat_age_s: own, ...said } = object(task);
  const known = taskIn(said);
  const silent = said["heartbeat_at"] === null ? undefined : typeof own === "number" ? own : number(age);
  const candidate = isCandidate(known, silent);
  if (!candidate) return E.right({ candidate });
  const { error } = object(start);
  const begin = (): E.Either<string, void> => (error === undefined ? E.right(undefined) : E.left(text(error)));
  return E.right({ candidate, ...reap(known, { canReattach: canReattach === true, start: begin, now: 1 }) });
};

export const runAdapters: Adapters = {
  "tools.output_log": withFields(["writes", "finish", "raw_output"], outputLog),
  "tools.session_signal": withFields(
    ["status", "run_id", "title", "tool", "summary", "signal_on_completion", "platform_store"],
    signal,
  ),
  "tools.reaper": withFields(["task", "age_s", "can_reattach", "start"], reaped),
};
