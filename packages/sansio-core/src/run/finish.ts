/** How a run ends: its two files, the update of its task, and what its session is told. */
import { type Json, type ToolCallOutput, type ToolValue, encode, internalErrorText, render } from "@pawl/tool-value";
import { bounded, cutTo, logOf, type Output, truncationNote } from "./output.ts";
import type { TaskError, TaskUpdate } from "../message/task.ts";
import { pretty } from "./pretty.ts";

/** What became of a run. Who won between a cancel and a finish stands here, and in no text. */
export type RunOutcome =
  | { readonly type: "succeeded"; readonly summary: string; readonly result: Json; readonly raw_output?: string }
  | { readonly type: "failed"; readonly error: TaskError }
  | { readonly type: "canceled" };

/** How the call of a lost run fails that may not be begun again; its driver says so, and no tool can. */
export const reattachRefused = "reattach_refused";
export const unexpectedEnd = "Background run ended unexpectedly";
export const canceledSummary = "Canceled by request.";

export const failedRun = (message: string, kind = "error"): RunOutcome => ({
  type: "failed",
  error: { kind, message },
});

/** A loss that nothing makes up for. */
export const orphaned = (reason?: string): RunOutcome => {
  const stopped = "worker heartbeat stopped";
  return failedRun(reason === undefined ? stopped : `${stopped}; re-attach failed: ${reason}`, "orphaned");
};

/** The artifacts are not there: so nobody is sent to look at them. */
export const artifactFailure: TaskError = { kind: "artifact", message: "Run artifacts could not be written" };

const shownSummary = 200;

const fieldsOf = (value: ToolValue): { readonly [key: string]: ToolValue } | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: ToolValue })
    : undefined;

/** A tool that knows that it runs in the background says a summary and a result; any other value is both. */
const succeeded = (payload: ToolValue): RunOutcome => {
  const { summary, result, raw_output: raw } = fieldsOf(payload) ?? {};
  if (typeof summary !== "string" || result === undefined) {
    const whole = encode(payload);
    return { type: "succeeded", summary: cutTo(render(whole), shownSummary), result: whole };
  }
  const said = { type: "succeeded", summary, result: encode(result) } as const;
  return typeof raw === "string" ? { ...said, raw_output: raw } : said;
};

/** What a run's call came to. Details of internal failures go to the log of the host, and no farther. */
export const outcomeOfOutput = ({ outcome }: ToolCallOutput): RunOutcome => {
  switch (outcome.status) {
    case "success":
      return succeeded(outcome.payload);
    case "failure": {
      const { class: failureClass, message, code, source } = outcome.payload;
      if (code === "tool_outcome_unknown") return orphaned();
      if (code === reattachRefused && source === "runtime") return orphaned(message);
      return failedRun(failureClass === "internal" ? internalErrorText : message);
    }
    case "cancelled":
      return { type: "canceled" };
  }
};

export interface RunPaths {
  readonly artifact_dir: string;
  readonly log_path: string;
  readonly result_path: string;
}
export const pathsOf = (run: string): RunPaths => {
  const dir = `/.background/${run}`;
  return { artifact_dir: dir, log_path: `${dir}/output.log`, result_path: `${dir}/result.json` };
};

export interface Artifacts {
  readonly log: string;
  readonly result: string;
}

const resultOf = (outcome: RunOutcome): Json => {
  switch (outcome.type) {
    case "succeeded":
      return outcome.result;
    case "failed":
      return { status: "failed", error: outcome.error.message };
    case "canceled":
      return { status: "canceled" };
  }
};

/** The texts of a run's files, from all that it wrote. Output that came with the result stands for what was streamed. */
export const artifactsOf = (outcome: RunOutcome, writes: readonly Output[], cap: number): Artifacts => {
  const result = pretty(resultOf(outcome));
  if (outcome.type === "succeeded" && outcome.raw_output !== undefined) {
    return { log: bounded(outcome.raw_output, cap), result };
  }
  const { text, isTruncated } = logOf(writes, cap);
  const closed = isTruncated ? text + truncationNote(cap) : text;
  return { log: outcome.type === "canceled" ? `${closed}\n${canceledSummary}\n` : closed, result };
};

/** What the end says to the task. `paths`: absent where the files could not be written, or never were. */
export const updateOf = (outcome: RunOutcome, paths: RunPaths | undefined): TaskUpdate => {
  const where = paths === undefined ? {} : { result_path: paths.result_path };
  switch (outcome.type) {
    case "succeeded":
      return { state: "succeeded", summary: outcome.summary, ...where };
    case "failed":
      return { state: "failed", summary: outcome.error.message, error: outcome.error, ...where };
    case "canceled":
      return { state: "canceled", summary: canceledSummary, ...where };
  }
};

export interface SessionSignal {
  readonly status: "completed" | "failed" | "canceled";
  readonly run: string;
  readonly title: string;
  readonly tool: string;
  readonly summary: string;
}

/** What a session is told of the end of a run. */
export const signalText = ({ status, run, title, tool, summary }: SessionSignal): string => {
  const { result_path, log_path } = pathsOf(run);
  return [
    `Background run ${status}.`,
    `- run_id: ${run}`,
    `- title: ${title}`,
    `- tool: ${tool}`,
    `- summary: ${summary}`,
    `- result_path: ${result_path}`,
    `- log_path: ${log_path}`,
  ].join("\n");
};
