/** Reads what the entries of a frame refer to from the events of the log. */
import { type ToolCallOutput, outputOfResolution } from "@pawl/tool-value";
import type { Event } from "../kernel/vocabulary.ts";
import { type AgentTask, agentTaskIn } from "./agent-task.ts";
import type { ResultRef, Said } from "./frame.ts";
import { type AnswerPart, type Message, type Piece, assemble, continued, textOf } from "./message.ts";

/** Reads an event of the log that an entry refers to. */
export type Read = (seq: number) => Event;

/** The pieces of an answer that an event holds. */
export const piecesIn = (event: Event): readonly Piece[] => {
  switch (event.type) {
    case "model.streamed":
    case "model.answered":
    case "model.stopped":
      return event.pieces;
    case "model.failed":
      return event.pieces ?? [];
    case "model.resolved":
      return event.outcome.type === "answer" ? event.outcome.pieces : [];
    default:
      return [];
  }
};

/** The parts of an answer: what it went on from, then what was recorded as it came, then the rest. */
export const partsOf = ({ seq, prefix = [], streamed = [] }: Said, read: Read): readonly AnswerPart[] => {
  const before = prefix.map((one) => textOf(assemble(piecesIn(read(one))))).join("");
  return continued(before, assemble([...streamed, seq].flatMap((one) => piecesIn(read(one)))));
};

/** The output that an event holds. */
const outputIn = (event: Event): ToolCallOutput | undefined => {
  if (event.type === "call.settled") return event.result.type === "done" ? event.result.output : undefined;
  return event.type === "wait.resolved" ? outputOfResolution(event.resolution) : undefined;
};

export const outputOf = ({ seq, output }: ResultRef, read: Read): ToolCallOutput | undefined =>
  output ?? (seq === undefined ? undefined : outputIn(read(seq)));

/** The registration of a process, in the event that brought it. */
const registrationIn = (event: Event) => {
  if (event.type === "process.registered") return event.registration;
  const isStart = event.type === "message.received" && event.message.type === "process.start";
  return isStart ? event.message.registration : undefined;
};

/** The task of a sub-agent, in the event that began it. */
export const taskIn = (event: Event): AgentTask | undefined => {
  const input = registrationIn(event)?.input;
  const task = input?.type === "session_turn" ? agentTaskIn(input) : undefined;
  return typeof task === "string" ? undefined : task;
};

/** The messages that an event brings. `isGiven`: the history of a sub-agent, in the place of what it is asked. */
export const messagesIn = (event: Event, isGiven = false): readonly Message[] => {
  if (event.type === "turn.submitted" || event.type === "frame.opened" || event.type === "turn.checked")
    return event.messages ?? [];
  const task = taskIn(event);
  return (isGiven ? task?.history : task?.messages) ?? [];
};

export const switchIn = (of: ResultRef, read: Read) => {
  const control = outputOf(of, read)?.control;
  return control?.type === "switch_agent_frame" ? control : undefined;
};
