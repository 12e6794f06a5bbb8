/** Background runs, and the tasks by which a session knows its long work. */
import { array, boolean, defaulted, optional, string, text, u64 } from "@pawl/tool-value";
import { answered, observed, toCaller } from "../kernel/duty.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { ProcessRegistration } from "../message/process.ts";
import { NewTaskCodec, ProgressCodec, TaskUpdateCodec } from "../message/task.ts";
import { backgroundChangeChecks, backgroundChecks } from "./check.ts";
import { NewMessageCodec, OutputCodec, PermitCodec } from "./codec.ts";
import { onArtifacts, onRunBegin, onRunFinish, onRunLost, onRunOvertaken, onRunReported, writing } from "./run.ts";
import {
  beginMonitor,
  onCancelRequested,
  onPermit,
  onRunRequested,
  onTaskCreated,
  onTaskMessaged,
  onTaskUpdated,
} from "./session.ts";
import { runSnapshot } from "./snapshot.ts";
import { onFired, onRefused, onReported, onScheduleEnded } from "./step.ts";
import type { BackgroundEvent, RunCommand, RunRows, RunSignal } from "./model.ts";
import type { Concern } from "../concern.ts";
import type { Born, Command } from "../kernel/command.ts";
import type { State } from "../kernel/state.ts";
import type { Output } from "./output.ts";

const first = (command: Command): Born => ({ born: 0, index: 0, command });

const ofRuns = ({ background: { asked, run }, process }: State): Born[] => {
  const permits = asked.values().map(({ run: name, born }): Born => ({
    born,
    index: 0,
    command: { type: "permit.take", run: name },
  }));
  if (run?.phase !== "finishing" || process === undefined) return permits;
  return [...permits, first(writing(process.registration.id, run))];
};

export const run: Concern<RunRows, BackgroundEvent["type"], RunSignal["type"], RunCommand["type"]> = {
  name: "run",
  events: {
    "run.requested": { fields: { registration: ProcessRegistration, hash: string }, on: onRunRequested },
    "permit.answered": { fields: { run: string, permit: PermitCodec }, on: onPermit },
    "run.reported": {
      fields: {
        attempt: u64,
        detail: optional(text),
        progress: optional(ProgressCodec),
        output: defaulted<readonly Output[]>(array(OutputCodec), [], (list) => list.length === 0),
      },
      on: onRunReported,
    },
    "artifacts.written": { fields: { attempt: u64, written: boolean }, on: onArtifacts },
    "task.created": { fields: { task: NewTaskCodec }, on: onTaskCreated },
    "task.updated": { fields: { task: string, update: TaskUpdateCodec }, on: onTaskUpdated },
    "task.cancel_requested": { fields: { task: string }, on: onCancelRequested },
    "task.messaged": { fields: { message: NewMessageCodec, expected_attempt: optional(u64) }, on: onTaskMessaged },
  },
  signals: {
    "run.begin": { raises: [], on: (draft, { session }) => onRunBegin(draft, session) },
    "run.finish": { raises: [], on: (draft, { output }) => onRunFinish(draft, output) },
    "run.lost": { raises: ["messages.send", "batches.cancel"], on: onRunLost },
    "run.overtaken": { raises: ["messages.send"], on: (draft, { status }) => onRunOvertaken(draft, status) },
    "task.report": { raises: [], on: onReported },
    "task.refused": { raises: [], on: onRefused },
    "monitor.begin": { raises: [], on: (draft, { schedule, task }) => beginMonitor(draft, schedule, task) },
    "monitor.fired": { raises: [], on: onFired },
    "monitor.ended": { raises: [], on: onScheduleEnded },
  },
  commands: {
    "permit.take": { tag: 40, duty: answered("permit.answered"), digest: (lanes, command) => lanes.text(command.run) },
    "permit.release": {
      tag: 41,
      duty: { performed: "durable", afterLoss: "never", answeredBy: undefined },
      digest: (lanes, command) => lanes.text(command.run),
    },
    "spawn.answer": {
      tag: 42,
      duty: toCaller,
      digest: (lanes, command) => lanes.text(command.run).text(command.answer.status),
    },
    "artifacts.write": {
      tag: 43,
      duty: { performed: "durable", afterLoss: "again", answeredBy: "artifacts.written" },
      digest: (lanes, command) =>
        lanes.text(command.process).text(command.run).number(command.attempt).text(command.outcome.type),
    },
    "task.observe": {
      tag: 45,
      duty: observed,
      digest: (lanes, command) =>
        lanes.text(command.what).text(command.task.id).text(command.task.state).number(command.task.attempt),
    },
    "run.observe": {
      tag: 46,
      duty: observed,
      digest: (lanes, command) => lanes.text(command.process).number(command.attempt),
    },
  },
  outstanding: ofRuns,
  isAtWork: (state) => ofRuns(state).length > 0,
  checks: backgroundChecks,
  changes: { background: backgroundChangeChecks },
  snapshot: runSnapshot,
  rows: { background: { tasks: PersistentMap.empty(), asked: PersistentMap.empty(), run: undefined } },
};
