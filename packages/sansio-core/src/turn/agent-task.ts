/** The work of a sub-agent: the task that its process is registered with, and the end of the process by that of its turn. */
import { array, lift, optional, record, string } from "@pawl/tool-value";
import { type Limits, LimitsCodec } from "../kernel/limit.ts";
import type { ProcessAwaitOutput, ProcessInput } from "../process/model.ts";
import { valueOf } from "../process/output.ts";
import { type OutputForm, OutputFormCodec } from "./agent.ts";
import { type Message, MessageCodec, decoded, problemOfMessages } from "./message.ts";
import type { TurnEnd } from "./model.ts";

type SessionTurn = Extract<ProcessInput, { readonly type: "session_turn" }>;

/** The work of a sub-agent. */
export interface AgentTask {
  readonly agent: string;
  readonly limits?: Limits;
  /** The history that it begins with, and what it is asked. */
  readonly history: readonly Message[];
  readonly messages: readonly Message[];
  readonly output?: OutputForm;
}

const CreateRequest = record<Pick<AgentTask, "agent" | "limits"> & { readonly messages?: readonly Message[] }>(
  "struct CreateRequest",
  { agent: string, limits: optional(LimitsCodec), messages: optional(array(MessageCodec)) },
);
const TurnInput = record<Pick<AgentTask, "messages">>("struct TurnInput", { messages: array(MessageCodec) });

/** Reads what a sub-agent is to do; a text where it is not as it should be. */
export const agentTaskIn = ({ create_request, turn_input, output_contract }: SessionTurn): AgentTask | string => {
  const create = decoded(CreateRequest, create_request);
  const input = decoded(TurnInput, turn_input);
  const output = output_contract === null ? undefined : decoded(OutputFormCodec, output_contract);
  if (create === undefined) return "`create_request` is expected to be {agent, limits?, messages?}";
  if (input === undefined) return "`turn_input` is expected to be {messages}";
  if (output === undefined && output_contract !== null)
    return "`output_contract` is expected to be null or {schema, …}";
  const { agent, limits, messages: history = [] } = create;
  const problem = problemOfMessages(input.messages) ?? (history.length === 0 ? undefined : problemOfMessages(history));
  if (problem !== undefined) return problem;
  return {
    agent,
    history,
    messages: input.messages,
    ...(limits === undefined ? {} : { limits }),
    ...(output === undefined ? {} : { output }),
  };
};

const errorOf = (end: Extract<TurnEnd, { readonly status: "failed" }>): ProcessAwaitOutput => {
  const { code, message = code, failure } = end;
  if (failure === undefined) return { type: "failure", class: "execution", code, message };
  return { type: "failure", class: failure.class, code: failure.code, message: failure.message };
};

/** The end of a process, by the end of its turn. */
export const outputOfEnd = (end: TurnEnd): ProcessAwaitOutput => {
  switch (end.status) {
    case "finished": {
      const { text, value, by } = end;
      if (value === undefined) return { type: "success", value: text };
      return { type: "success", value: by === undefined ? lift(value) : valueOf(value) };
    }
    case "stopped": {
      const { because, text } = end;
      if (because === "cancelled") return { type: "cancelled", message: "sub-agent was cancelled" };
      const message = `the sub-agent was stopped: ${because}`;
      const raw = text === undefined ? {} : { raw: text };
      return { type: "failure", class: "resource_limit", code: `agent_${because}`, message, ...raw };
    }
    case "failed":
      return errorOf(end);
    case "joined":
      return { type: "failure", class: "execution", code: "joined", message: `the turn joined \`${end.into}\`` };
  }
};
