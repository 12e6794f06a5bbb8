/** A run in the scope of its process. */
import type { ToolCallOutput } from "@pawl/tool-value";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import { hasRule } from "../kernel/protocol.ts";
import { type EventOf, requestBatch } from "../kernel/vocabulary.ts";
import type { UnknownCause } from "../call/model.ts";
import type { ProcessAwaitOutput, ProcessStatus } from "../process/model.ts";
import { outputOfAwait, valueOf } from "../process/output.ts";
import {
  type RunOutcome,
  artifactFailure,
  canceledSummary,
  emptyOutput,
  orphaned,
  outcomeOfOutput,
  pathsOf,
  updateOf,
  writeOutput,
} from "./finish.ts";
import { type RunRow, runOfAttempt } from "./model.ts";
import { setRun } from "./task.ts";
import { definitionOf } from "./session.ts";
import type { TaskUpdate } from "../message/task.ts";

/** A process that is a background run begins. */
export const onRunBegin = (draft: Draft, session: string | undefined): void => {
  const registration = draft.process?.registration;
  const definition = registration === undefined ? undefined : definitionOf(registration);
  if (registration === undefined || definition === undefined) return;
  setRun(draft, {
    definition,
    title: registration.identity.label ?? definition.tool,
    ...(session === undefined ? {} : { session }),
    phase: "running",
    attempt: 1,
    detail: "Starting",
    filled: emptyOutput,
  });
};

const idOf = ({ process }: Draft): string => process?.registration.id ?? "";

/** Its task hears; which attempt speaks is said with it. */
const report = (draft: Draft, { definition, session, attempt }: RunRow, update: TaskUpdate): void => {
  if (session === undefined) return;
  const said = { task: definition.task, run: runOfAttempt(idOf(draft), attempt), update };
  draft.raise({ type: "messages.send", to: session, message: { type: "task.reported", ...said }, isLast: false });
};

const speaking = (draft: Draft, attempt: number, phase: RunRow["phase"]): RunRow | Rejection => {
  const { run } = draft.state.background;
  if (run === undefined) return reject("run_unknown", `\`${draft.scope.id}\` is no background run`);
  if (run.attempt !== attempt) return reject("stale_attempt", `expected attempt ${run.attempt}, found ${attempt}`);
  return run.phase === phase ? run : reject("wrong_phase", `the run is ${run.phase}, expected ${phase}`);
};

const isRun = (row: RunRow | Rejection): row is RunRow => "definition" in row;

export const onRunReported = (draft: Draft, event: EventOf<"run.reported">): Rejection | undefined => {
  const { attempt, detail, progress, output } = event;
  const row = speaking(draft, attempt, "running");
  if (!isRun(row)) return row;
  if (row.outcome !== undefined) return reject("wrong_phase", "the run is lost: nothing more is taken from it");
  const cap = draft.options.max_output;
  let { filled } = row;
  for (const write of output) filled = writeOutput(filled, write, cap).filled;
  const said = progress === undefined ? {} : { progress };
  setRun(draft, { ...row, detail: detail ?? row.detail, ...said, filled });
  draft.emit({ type: "run.observe", process: idOf(draft), attempt });
  return undefined;
};

/** Its call is over: what is left is to write its files. A cancel that stands before its end wins, whatever it says. */
export const onRunFinish = (draft: Draft, output: ToolCallOutput, cause: UnknownCause | undefined): void => {
  const { run: row } = draft.state.background;
  if (row?.phase !== "running") return;
  const isCancelled = draft.process?.cancelled === true;
  const ended: RunOutcome = isCancelled ? { type: "canceled" } : outcomeOfOutput(output, draft.scope.protocol, cause);
  const outcome = row.outcome ?? ended;
  setRun(draft, { ...row, phase: "finishing", outcome });
  draft.emit(writing(idOf(draft), { ...row, outcome }));
};

interface Writing {
  readonly type: "artifacts.write";
  readonly process: string;
  readonly run: string;
  readonly attempt: number;
  readonly outcome: RunOutcome;
}
export const writing = (process: string, { attempt, outcome }: RunRow): Writing => ({
  type: "artifacts.write",
  process,
  run: runOfAttempt(process, attempt),
  attempt,
  outcome: outcome ?? orphaned(),
});

/** Returns the end of a run, as the awaiters of its process are told. */
const awaited = (outcome: RunOutcome): ProcessAwaitOutput => {
  switch (outcome.type) {
    case "succeeded":
      return { type: "success", value: valueOf(outcome.result) };
    case "failed": {
      const { kind: code, message } = outcome.error;
      return { type: "failure", class: "execution", code, message };
    }
    case "canceled":
      return { type: "cancelled", message: canceledSummary };
  }
};

const isOrphan = (outcome: RunOutcome): boolean => outcome.type === "failed" && outcome.error.kind === "orphaned";

const over = (row: RunRow): RunRow => {
  const { outcome: _, ...rest } = row;
  return { ...rest, phase: "ended" };
};

/** Returns what was shown of a run last: its task keeps that. */
const lastShown = ({ scope }: Draft, { detail, progress }: RunRow): TaskUpdate => {
  if (!hasRule(scope.protocol, "task_keeps_detail")) return {};
  return { state_detail: detail, ...(progress === undefined ? {} : { progress }) };
};

/** Ends the run once its files are written, or cannot be: the task hears first, then the process ends. */
export const onArtifacts = (draft: Draft, event: EventOf<"artifacts.written">): Rejection | undefined => {
  const row = speaking(draft, event.attempt, "finishing");
  if (!isRun(row)) return row;
  const { attempt, outcome = orphaned() } = row;
  const end: RunOutcome = event.written ? outcome : { type: "failed", error: artifactFailure };
  const paths = event.written ? pathsOf(runOfAttempt(idOf(draft), attempt)) : undefined;
  const fence = { expected_attempt: attempt, ...(isOrphan(end) ? { increment_attempt: true } : {}) };
  setRun(draft, over(row));
  report(draft, row, { ...lastShown(draft, row), ...updateOf(end, paths), ...fence });
  draft.raise({ type: "process.finish", output: awaited(end) });
  return undefined;
};

/**
 * The call of an owner that went runs again, if it may: so does the run, under its next attempt. In protocol 1 the run has
 * a say of its own: whether it may, and how often.
 */
export const onRunLost = (draft: Draft): void => {
  const { process, options, scope } = draft;
  const { run: row } = draft.state.background;
  if (row?.phase !== "running" || row.outcome !== undefined || process === undefined || process.cancelled) return;
  const { attempt, definition } = row;
  const batch = draft.batch(requestBatch(process.registration.id));
  const calls = batch?.calls.map((ref) => draft.call(ref)) ?? [];
  if (calls.some((call) => call?.phase === "unknown" && call.cause === "crash_loop")) return tellParked(draft, row);
  const isResuming = calls.some((call) => call?.phase === "resuming");
  if (batch === undefined || !isResuming) return; // Its own end says what became of it.
  const mayBegin = definition.reattachable && attempt < options.max_run_attempts;
  if (mayBegin || hasRule(scope.protocol, "lost_runs")) return reattach(draft, row);
  setRun(draft, { ...row, outcome: orphaned() });
  draft.raise({ type: "batches.cancel", batches: [batch.ref] });
};

const parked = "parked: it crashed too often in a row, and waits for a decision";

/** Says on the task that the run's call waits until somebody resolves it. */
const tellParked = (draft: Draft, row: RunRow): void => {
  setRun(draft, { ...row, detail: parked });
  report(draft, row, { state_detail: parked, expected_attempt: row.attempt });
};

const reattach = (draft: Draft, row: RunRow): void => {
  const attempt = row.attempt + 1;
  const detail = `re-attached (attempt ${attempt})`;
  const next = { ...row, attempt, detail, filled: emptyOutput };
  setRun(draft, next);
  const links = { resource_ids: [runOfAttempt(idOf(draft), attempt)] };
  const fence = { expected_attempt: row.attempt, increment_attempt: true };
  report(draft, next, { worker_id: draft.scope.owner, state_detail: detail, links, ...fence });
};

/** The process was ended by someone else: there are no files, and the task hears what is known. */
export const onRunOvertaken = (draft: Draft, status: Exclude<ProcessStatus, { readonly state: "running" }>): void => {
  const { run: row } = draft.state.background;
  if (row === undefined || row.phase === "ended") return;
  const end = outcomeOfOutput(outputOfAwait(status.await_output), draft.scope.protocol);
  setRun(draft, over(row));
  report(draft, row, { ...lastShown(draft, row), ...updateOf(end, undefined), expected_attempt: row.attempt });
};
