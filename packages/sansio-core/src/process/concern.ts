/** Work that outlives the call that started it. */
import { optional, string } from "@pawl/tool-value";
import { answered, observed, untilAcked } from "../kernel/duty.ts";
import { ProcessEventAppendRequest, ProcessRegistration } from "../message/process.ts";
import { processChangeChecks, processStateChecks } from "./check.ts";
import { onMessageHeard, onMessageTaken } from "./receive.ts";
import { processSnapshot } from "./snapshot.ts";
import { onAppended, onEmit, onFinish, onRegistered, onRunEnded, onTools, onUnwait, onWait } from "./step.ts";
import type { ProcessScopeEvent } from "./model.ts";
import type { ProcessCommand, ProcessRows, ProcessSignal } from "./contract.ts";
import type { Concern } from "../concern.ts";
import type { Born, Command } from "../kernel/command.ts";
import type { State } from "../kernel/state.ts";

const first = (command: Command): Born => ({ born: 0, index: 0, command });

const ofProcess = ({ process: row }: State): Born[] => {
  if (row === undefined) return [];
  const { id, env_ref = "" } = row.registration;
  if (row.run === "env") return [first({ type: "env.load", process: id, env_ref })];
  if (row.run !== "engine") return [];
  const run = first({ type: "engine.run", process: id });
  return row.cancelled ? [run, { ...first({ type: "engine.cancel", process: id }), index: 1 }] : [run];
};

export const process: Concern<ProcessRows, ProcessScopeEvent["type"], ProcessSignal["type"], ProcessCommand["type"]> = {
  name: "process",
  events: {
    "process.registered": { fields: { registration: ProcessRegistration, hash: string }, on: onRegistered },
    "process.event_appended": {
      fields: { request: ProcessEventAppendRequest, payload_hash: string, invalid: optional(string) },
      on: onAppended,
    },
  },
  signals: {
    "message.taken": {
      raises: [
        "message.judged",
        "messages.send",
        "wait.settle",
        "batches.cancel",
        "request.open",
        "handle.grant",
        "handle.ended",
        "run.begin",
        "run.finish",
        "run.overtaken",
        "task.report",
      ],
      on: onMessageTaken,
    },
    "message.heard": { raises: ["handle.grant", "handle.released", "task.refused"], on: onMessageHeard },
    "run.ended": { raises: ["messages.send", "run.finish"], on: onRunEnded },
    "tools.published": { raises: ["request.open"], on: onTools },
    "process.emit": {
      raises: ["effect.end", "messages.send", "wait.settle", "batches.cancel", "run.finish", "run.overtaken"],
      on: onEmit,
    },
    "process.wait": { raises: [], on: onWait },
    "process.unwait": { raises: [], on: onUnwait },
    "process.finish": { raises: ["messages.send"], on: onFinish },
  },
  commands: {
    "env.load": {
      tag: 18,
      duty: answered("catalog.published"),
      digest: (lanes, command) => lanes.text(command.process).text(command.env_ref),
    },
    "engine.run": {
      tag: 19,
      duty: untilAcked("process.event_appended"),
      digest: (lanes, command) => lanes.text(command.process),
    },
    "engine.cancel": {
      tag: 20,
      duty: untilAcked("process.event_appended"),
      digest: (lanes, command) => lanes.text(command.process),
    },
    "process.observe": {
      tag: 21,
      duty: observed,
      digest: (lanes, command) => {
        lanes.text(command.what).text(command.process).number(command.sequence);
        return lanes.optional(command.event_type).optional(command.state);
      },
    },
  },
  outstanding: ofProcess,
  isAtWork: (state) => ofProcess(state).length > 0,
  checks: processStateChecks,
  changes: { process: processChangeChecks },
  snapshot: processSnapshot,
  rows: { process: undefined },
};
