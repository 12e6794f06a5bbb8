/** Background runs: written down, ended, lost. */
import { type Json, type JsonObject, internalErrorText } from "@pawl/tool-value";
import {
  type Output,
  type RunOutcome,
  artifactFailure,
  artifactsOf,
  codePoints,
  failedRun,
  logOf,
  pathsOf,
  signalText,
  truncationNote,
  unexpectedEnd,
  updateOf,
} from "@pawl/sansio-core";
import { MemoryFiles, type Target, defaultRegistry, isCandidate, reap } from "@pawl/tools";
import { decideReattach } from "@pawl/runtime";
import type { Adapters } from "@pawl/testkit";
import * as E from "fp-ts/lib/Either.js";
import { type Result, checked, list, maybeText, number, object, text, textIn } from "./input.ts";
import { target } from "./spawn.ts";
import { taskIn } from "./task.ts";

const cap = 262_144;

const writesIn = (writes: Json | undefined): readonly Output[] =>
  list(writes).map((write) => {
    const [stream, delta] = list(write);
    return { stream: text(stream), delta: textIn(delta) };
  });

/** How a run ends of which only the log is looked at; what one gives back that failed is not looked at at all. */
const endOfLog = (finish: Json | undefined, raw: string | undefined): RunOutcome => {
  if (finish === "cancel" || finish === "canceled") return { type: "canceled" };
  if (finish === "failure" || finish === "failed") return failedRun("failed");
  const done = { type: "succeeded", summary: "", result: null } as const;
  return raw === undefined ? done : { ...done, raw_output: raw };
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

const outcomeIn = (json: JsonObject): RunOutcome => {
  const { ok, tool_error, internal_error, connection_required, cancelled, exception } = json;
  if (ok !== undefined) {
    const { summary, result = null, raw_output: raw } = object(ok);
    const said = { type: "succeeded", summary: text(summary), result } as const;
    return typeof raw === "string" ? { ...said, raw_output: raw } : said;
  }
  if (cancelled === true) return { type: "canceled" };
  if (tool_error !== undefined) return failedRun(text(tool_error));
  if (internal_error !== undefined || exception !== undefined) return failedRun(internalErrorText);
  if (connection_required !== undefined) {
    return failedRun(`Background tool requires connection setup: ${text(connection_required)}`);
  }
  return failedRun(unexpectedEnd);
};

const words = { succeeded: "completed", failed: "failed", canceled: "canceled" } as const;

/** Whether the folder of a run can be made where this file stands. */
const isWritable = async (blocked: string | undefined): Promise<boolean> => {
  const files = new MemoryFiles();
  if (blocked !== undefined) await files.write(blocked, new Uint8Array(), { encoding: "text" });
  try {
    await files.createDirectory(pathsOf("bg_1").artifact_dir);
    return true;
  } catch {
    return false; // That it can not is what is asked.
  }
};

/** Whether a session hears of an end: it wants to, and there is somebody to tell it. */
const isTold = ({ signal_on_completion: wanted, platform_store: platform }: JsonObject): boolean =>
  wanted !== false && platform !== null;

const finalized = async (input: JsonObject): Promise<Result> => {
  const written = await isWritable(maybeText(input["preexisting_file"]));
  const wanted = outcomeIn(object(input["outcome"]));
  const outcome: RunOutcome = written ? wanted : { type: "failed", error: artifactFailure };
  const { log, result } = artifactsOf(wanted, writesIn(input["writes"]), cap);
  const update = updateOf(outcome, written ? pathsOf("bg_1") : undefined);
  const shown = update.result_path === undefined ? update : { ...update, result_path: "<result_path>" };
  return E.right({
    output_log: log,
    result_json_text: result,
    result_json: JSON.parse(result) as unknown,
    task_update: shown,
    task_update_state: update.state,
    task_state: update.state,
    error: update.error,
    signal_status: words[outcome.type],
    signal_summary: update.summary,
    signal_sent: isTold(input),
  });
};

const signal = ({ status, run_id: run, title, tool, summary, ...where }: JsonObject): Result =>
  !isTold(where)
    ? E.right({ messages: 0 })
    : E.right(
        signalText({
          status: status as "completed",
          run: text(run),
          title: text(title),
          tool: text(tool),
          summary: text(summary),
        }),
      );

const reaped = ({ task, age_s: age, can_reattach: canReattach, start }: JsonObject): Result => {
  const { heartbeat_age_s: own, ...said } = object(task);
  const known = taskIn(said);
  const silent = said["heartbeat_at"] === null ? undefined : typeof own === "number" ? own : number(age);
  const candidate = isCandidate(known, silent);
  if (!candidate) return E.right({ candidate });
  const { error } = object(start);
  const begin = (): E.Either<string, void> => (error === undefined ? E.right(undefined) : E.left(text(error)));
  return E.right({ candidate, ...reap(known, { canReattach: canReattach === true, start: begin, now: 1 }) });
};

const ofDefaults = (name: string): Target | undefined => {
  const tool = defaultRegistry().get(name);
  return tool === undefined ? undefined : { name, hints: tool.hints ?? {}, hasExecutor: false };
};

const reattached = (input: JsonObject): Result => {
  const { resolver, task, active_session_runs, active_worker_runs } = input;
  const spec = input["spec"] ?? object(task)["spec"] ?? {};
  const ofCase = (name: string): Target | undefined => {
    const found = object(resolver)[name];
    return found === undefined
      ? undefined
      : target(name, object(object(found)["hints"]), object(found)["background"] === true);
  };
  const decided = decideReattach(spec, {
    files: input["file_store"] !== null,
    tasks: input["task_registry"] !== null,
    resolve: typeof resolver === "object" && resolver !== null ? ofCase : ofDefaults,
    isWorkerFull: number(active_worker_runs) >= 64,
    isSessionFull: number(active_session_runs) >= 5,
  });
  const said = (run: { readonly arguments: JsonObject; readonly signal: boolean }) => ({
    arguments: run.arguments,
    signal_on_completion: run.signal,
    first_status: "Re-attaching",
    heartbeat_expected_attempt: object(task)["attempt"] ?? 1,
    new_run_id: true,
  });
  return checked(E.map(said)(decided));
};

export const runAdapters: Adapters = {
  "tools.output_log": outputLog,
  "tools.finalize": finalized,
  "tools.session_signal": signal,
  "tools.reaper": reaped,
  "tools.reattach": reattached,
};
