/** The work of a sub-agent, as its process is registered with it: which agent, a history to begin with, and what is asked. */
import { array, optional, record, string } from "@pawl/tool-value";
import { type Limits, LimitsCodec } from "../kernel/limit.ts";
import type { ProcessInput } from "../process/model.ts";
import { type OutputForm, OutputFormCodec } from "./agent.ts";
import { type Message, MessageCodec, decoded, problemOfMessages } from "./message.ts";

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
