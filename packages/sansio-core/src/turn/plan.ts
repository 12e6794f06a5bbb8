/**
 * The plan of a prompt: what the state alone says of it; and what `promptOf` makes the prompt of: events of the log, ids of calls,
 * and fixed texts. Of ids: providers number them anew, repeat them or leave them blank; a prompt tells them apart.
 */
import type { State, Event } from "../kernel/vocabulary.ts";
import { callIn } from "./conversation.ts";
import { type AgentTask, agentTaskIn } from "./agent-task.ts";
import { type Entry, entriesOf, type ResultRef, type Said } from "./frame.ts";
import { type ToolCallOutput, outputOfResolution } from "@pawl/tool-value";
import { type AnswerPart, type Message, type Piece, assemble, continued, textOf, type AnswerCall } from "./message.ts";

/** All that the model of an attempt is shown, by reference. */
export interface Plan {
  /** The event that published the agent. */
  readonly agent: number;
  readonly route: number;
  readonly provider: string;
  readonly entries: readonly Entry[];
  /** The prompt asks for a summary of what it shows. */
  readonly summarizes: boolean;
  /** Tools are shown; they are off where this is false. */
  readonly tools: boolean;
  /** The text that the answer goes on from, as the model's own. */
  readonly prefix: string;
}

/** Shows an answer that was cut off in front of what has cut it off; where that is gone, the model is asked as before. */
const withoutLastCut = (entries: readonly Entry[]): readonly Entry[] =>
  entries.at(-1)?.type === "cut" ? entries.slice(0, -1) : entries;

/** Returns the plan of the prompt that the running turn's model is shown; undefined where it has no model call. */
export const promptPlan = ({ conversation }: State, request: string): Plan | undefined => {
  const { running, frames } = conversation;
  const call = running === undefined ? undefined : callIn(running.phase);
  const frame = running === undefined ? undefined : frames.get(running.frame);
  const route = call === undefined ? undefined : running?.agent?.routes[call.route];
  if (running?.request !== request || running.agent === undefined) return undefined;
  if (call === undefined || frame === undefined || route === undefined) return undefined;
  return {
    agent: running.agent.seq,
    route: call.route,
    provider: route.provider,
    entries: call.kind === "compact" ? entriesOf(frame, call.range) : withoutLastCut(frame.entries),
    summarizes: call.kind === "compact",
    tools: call.withoutTools !== true,
    prefix: call.mode === "continue" ? call.prefix : "",
  };
};

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

export class PromptIds {
  readonly #used = new Set<string>();
  readonly #next = new Map<string, number>();
  /** As the calls of providers are shown, by the id that the provider gave last. */
  readonly #provider = new Map<string, string>();
  #n = 0;
  /** As the local calls of the answer are shown, in order. */
  local: string[] = [];

  /** Begins the answer of the n-th model call. */
  begin(n: number): void {
    this.#n = n;
    this.local = [];
  }

  /** The first free one of `id`, `id_2`, `id_3`, … Those below `#next` are taken, and stay so. */
  #free(id: string): string {
    let free = id;
    let i = this.#next.get(id) ?? 2;
    for (; this.#used.has(free); i++) free = `${id}_${i}`;
    if (free !== id) this.#next.set(id, i);
    this.#used.add(free);
    return free;
  }

  /** Names a call. */
  call({ id, provider }: AnswerCall): string {
    const shown = this.#free(id.trim() === "" ? `call_${this.#n}_${this.local.length}` : id);
    if (provider === true) this.#provider.set(id, shown);
    else this.local.push(shown);
    return shown;
  }

  /** The id under which the provider's own call is shown that this result is of. */
  ofProvider(id: string): string {
    return this.#provider.get(id) ?? id;
  }
}

export const texts = {
  summary: (summary: string): string => `Summary of the earlier conversation:\n${summary}`,
  leftOut: "(Earlier messages were left out because they did not fit.)",
  wrapUp: "The limit of this turn is reached. Answer now with what you have. Tools are off.",
  repair: (message: string): string =>
    `The answer does not fit the wanted form: ${message}. Answer again with JSON alone.`,
  noVerdict: "nobody has checked it",
  summarize:
    "Summarize the conversation so far, so that it can be continued without the messages above. Keep goals, decisions, " +
    "open questions, names, numbers and results of tools.",
  edited: (args: string): string => `[A person changed the arguments to ${args}]\n`,
  notRun: "[Tool execution cancelled]\nnot run",
  cutOff: "The answer was cut off at its output limit before its calls could be made.",
} as const;
