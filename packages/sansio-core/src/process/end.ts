/** Ends that the core itself brings about: of a process whose call has ended, or that had nothing to run. */
import * as E from "fp-ts/lib/Either.js";
import { terminalKey } from "../identity/process.ts";
import { type Appended, type ProcessAppend, appendEvent, eventOf } from "./append.ts";
import { completionRequest } from "./core-event.ts";
import { coreMade, type ProcessAwaitOutput, type ProcessRow, type ProcessStatus } from "./model.ts";

const statusOf = (output: ProcessAwaitOutput): Exclude<ProcessStatus, { readonly state: "running" }> => {
  switch (output.type) {
    case "success":
      return { state: "completed", await_output: output };
    case "failure":
      return { state: "failed", await_output: output };
    case "cancelled":
      return { state: "cancelled", await_output: output };
  }
};

/** A registrant may give the core types another meaning; an end that does not fit it is an end all the same. */
const forced = (row: ProcessRow, append: ProcessAppend, output: ProcessAwaitOutput): Appended => {
  const terminal = statusOf(output);
  const seq = row.sequence + 1;
  const event = eventOf(append, { seq, at: append.at }, { terminal });
  const key = terminalKey(row.registration.id, event.event_type);
  const replays = row.replays.set(key, { hash: append.payloadHash, seq, at: append.at });
  const { wait: _, ...rest } = row;
  return { row: { ...rest, status: terminal, sequence: seq, updatedAt: append.at, replays }, event, isReplay: false };
};

/** Ends a running process with this output. */
export const endProcess = (row: ProcessRow, output: ProcessAwaitOutput, at: number): Appended => {
  const processId = row.registration.id;
  const append = { processId, request: completionRequest(processId, output), payloadHash: coreMade, at };
  const appended = appendEvent(row, append);
  return E.isRight(appended) && appended.right.row.status.state !== "running"
    ? appended.right
    : forced(row, append, output);
};
