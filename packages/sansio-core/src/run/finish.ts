/** How a run ends: its output and its two files, the update of its task, and what its session is told. */
import {
  type Json,
  type JsonObject,
  type ToolCallOutput,
  type ToolFailure,
  type ToolValue,
  encode,
  internalErrorText,
  render,
  stringify,
} from "@pawl/tool-value";
import type { UnknownCause } from "../call/model.ts";
import { hasRule } from "../kernel/protocol.ts";
import type { TaskError, TaskUpdate } from "../message/task.ts";

/** How far a log has been filled. */
export interface Filled {
  /** Code points. */
  readonly length: number;
  readonly isTruncated: boolean;
}
export const emptyOutput: Filled = { length: 0, isTruncated: false };

/** One write of a run. */
export interface Output {
  readonly stream: string;
  readonly delta: string;
}

const isLead = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

/** The place behind so many code points; the text's end, where it has fewer. */
const placeAfter = (text: string, count: number): number => {
  let place = 0;
  for (let n = 0; n < count && place < text.length; n++) place += isLead(text.charCodeAt(place)) ? 2 : 1;
  return Math.min(place, text.length);
};

/** Counts the code points of a text. */
export const codePoints = (text: string): number => {
  let count = 0;
  for (let place = 0; place < text.length; place += isLead(text.charCodeAt(place)) ? 2 : 1) count++;
  return count;
};

/** The first code points of a text. */
export const cutTo = (text: string, count: number): string =>
  text.length <= count ? text : text.slice(0, placeAfter(text, count));

export interface Write {
  readonly filled: Filled;
  /** The part that goes into the log. */
  readonly kept: string;
}

/** One write: what of it there is room for. Filling the log exactly cuts nothing; an empty write is none. */
export const writeOutput = (filled: Filled, { stream, delta }: Output, cap: number): Write => {
  if (delta === "") return { filled, kept: "" };
  const room = Math.max(0, cap - filled.length);
  if (room === 0) return { filled: { ...filled, isTruncated: true }, kept: "" };
  const chunk = `[${stream}] ${delta}`;
  const length = codePoints(chunk);
  if (length <= room) return { filled: { ...filled, length: filled.length + length }, kept: chunk };
  return { filled: { length: cap, isTruncated: true }, kept: cutTo(chunk, room) };
};

/** All writes of a run as its log, without the closing notes. */
export const logOf = (writes: readonly Output[], cap: number): Filled & { readonly text: string } => {
  let filled = emptyOutput;
  const kept: string[] = [];
  for (const write of writes) {
    const next = writeOutput(filled, write, cap);
    filled = next.filled;
    kept.push(next.kept);
  }
  return { ...filled, text: kept.join("") };
};

/** Marks the place where the log of a background run was cut. */
export const truncationNote = (cap: number): string => `\n[system] background output truncated at ${cap} characters\n`;

/** A text that came in one piece, under the same bound. */
export const bounded = (text: string, cap: number): string =>
  codePoints(text) <= cap ? text : cutTo(text, cap) + truncationNote(cap);

// JSON as people read it: two spaces a level, keys in the order of canonical text.

const isEmpty = (value: object): boolean => (Array.isArray(value) ? value : Object.keys(value)).length === 0;
const byText = (a: string, b: string): number => (a < b ? -1 : 1);

const partsOf = (value: readonly Json[] | JsonObject): readonly (readonly [head: string, part: Json])[] =>
  Array.isArray(value)
    ? value.map((part) => ["", part])
    : Object.entries(value as JsonObject)
        .toSorted(([a], [b]) => byText(a, b))
        .map(([key, part]) => [`${stringify(key)}: `, part]);

interface Open {
  readonly parts: readonly (readonly [string, Json])[];
  readonly close: string;
  next: number;
}

const opened = (value: readonly Json[] | JsonObject): Open => ({
  parts: partsOf(value),
  close: Array.isArray(value) ? "]" : "}",
  next: 0,
});

/** Keeps its own stack: no depth of input overflows that of the language. */
export const pretty = (value: Json): string => {
  const text: string[] = [];
  const stack: Open[] = [];
  const put = (one: Json): void => {
    const isNested = typeof one === "object" && one !== null && !isEmpty(one);
    text.push(isNested ? (Array.isArray(one) ? "[" : "{") : stringify(one));
    if (isNested) stack.push(opened(one));
  };
  put(value);
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const part = top.parts[top.next];
    if (part === undefined) {
      stack.pop();
      text.push(`\n${"  ".repeat(stack.length)}${top.close}`);
      continue;
    }
    text.push(`${top.next === 0 ? "" : ","}\n${"  ".repeat(stack.length)}${part[0]}`);
    top.next += 1;
    put(part[1]);
  }
  return text.join("");
};

// Ends.

/** The outcome of a run. A cancel and a finish are told apart here, and in no text. */
export type RunOutcome =
  | { readonly type: "succeeded"; readonly summary: string; readonly result: Json; readonly raw_output?: string }
  | { readonly type: "failed"; readonly error: TaskError }
  | { readonly type: "canceled" };

/** How the call of a lost run fails that may not be begun again; its driver says so, and no tool can. */
export const reattachRefused = "reattach_refused";
/** Words the end of a background run that said nothing of its own. */
export const unexpectedEnd = "Background run ended unexpectedly";
export const canceledSummary = "Canceled by request.";

/** Makes the outcome of a background run that failed. */
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

const tooManyCrashes = "it crashed too often in a row";

/**
 * Returns the loss that a failure tells of. In protocol 1 a loss is known by codes, which a tool can return as well; from
 * protocol 2 on by the cause, which the core writes.
 */
const lossIn = (
  { code, source, message }: ToolFailure,
  protocol: number,
  cause: UnknownCause | undefined,
): RunOutcome | undefined => {
  const isRefused = code === reattachRefused && source === "runtime";
  if (!hasRule(protocol, "lost_runs")) {
    if (code === "tool_outcome_unknown") return orphaned();
    return isRefused ? orphaned(message) : undefined;
  }
  if (cause === "crash_loop") return orphaned(tooManyCrashes);
  return cause === "owner_lost" ? orphaned(isRefused ? message : undefined) : undefined;
};

/**
 * Returns the outcome of a run from its call's output, and from why that is unknown (`cause`). Details of internal
 * failures go to the log of the host, and no farther.
 */
export const outcomeOfOutput = ({ outcome }: ToolCallOutput, protocol: number, cause?: UnknownCause): RunOutcome => {
  switch (outcome.status) {
    case "success":
      return succeeded(outcome.payload);
    case "failure": {
      const { class: failureClass, message } = outcome.payload;
      const loss = lossIn(outcome.payload, protocol, cause);
      return loss ?? failedRun(failureClass === "internal" ? internalErrorText : message);
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
/** Returns where a background run writes its log and its result. */
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

/** Returns the update of the task at the end. `paths`: absent where the files could not be written, or never were. */
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

/** Words the end of a run, for its session. */
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
