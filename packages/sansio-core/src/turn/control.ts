/** Controls of a batch: which of them acts when all calls have ended, in the order of the answer, and why the others do not. */
import {
  type Json,
  type ToolCallOutput,
  type ToolControl,
  type ToolFailure,
  type ToolValue,
  encode,
} from "@pawl/tool-value";
import { type Message, decoded, MessageCodec } from "./message.ts";

export interface ControlledCall {
  readonly name: string;
  readonly tool: string;
  readonly output: ToolCallOutput;
}

interface OfCall {
  readonly call: string;
  readonly tool: string;
}

/** The act that follows from the controls of a batch. */
export type Act =
  | { readonly type: "go_on" }
  | ({ readonly type: "finish"; readonly value: Json } & OfCall)
  | ({ readonly type: "fail"; readonly failure: ToolFailure } & OfCall)
  | ({
      readonly type: "switch";
      readonly frame: string;
      readonly task: string;
      readonly nodes: readonly Json[];
    } & OfCall)
  | ({ readonly type: "too_many_switches" } & OfCall);

export type IgnoredBecause = "not_first" | "not_success" | "incomplete_switch" | "invalid_node" | "agent_unknown";

export interface IgnoredControl {
  readonly call: string;
  readonly control: ToolControl["type"];
  readonly because: IgnoredBecause;
}

/** A node that a switch begins a frame with. What is of no known type is kept in the log, and shown to nobody. */
export type Node =
  | { readonly type: "agent"; readonly name: string }
  | { readonly type: "history" }
  | { readonly type: "message"; readonly message: Message }
  | { readonly type: "other" };

type Fields = { readonly [field: string]: unknown };
const isFields = (u: unknown): u is Fields => typeof u === "object" && u !== null && !Array.isArray(u);

const messageNode = ({ message }: Fields): Node | undefined => {
  const found = decoded(MessageCodec, message);
  const isEmpty = found !== undefined && typeof found.content !== "string" && found.content.length === 0;
  return found === undefined || isEmpty ? undefined : { type: "message", message: found };
};

/** Reads a node; undefined where it is of a known type and does not decode. */
export const nodeOf = (json: Json): Node | undefined => {
  if (!isFields(json)) return { type: "other" };
  const { type, name, mode } = json;
  switch (type) {
    case "agent":
      return typeof name === "string" && name.trim() !== "" ? { type, name } : undefined;
    case "history":
      return mode === "all" ? { type } : undefined;
    case "message":
      return messageNode(json);
    default:
      return { type: "other" };
  }
};

type Switch = Extract<ToolControl, { readonly type: "switch_agent_frame" }>;
type IsPublished = (agent: string) => boolean;

const isBlank = (text: string | undefined): boolean => text === undefined || text.trim() === "";

/** Why a switch is no control, if so. */
const flawOf = (
  { frame_id: frame, task, initial_nodes: raw }: Switch,
  isPublished: IsPublished,
): IgnoredBecause | undefined => {
  if (isBlank(frame) || isBlank(task)) return "incomplete_switch";
  const nodes = raw.map(nodeOf);
  if (nodes.includes(undefined)) return "invalid_node";
  const isKnown = nodes.every((node) => node?.type !== "agent" || isPublished(node.name));
  return isKnown ? undefined : "agent_unknown";
};

const flawOfCall = (
  { output }: ControlledCall,
  control: ToolControl,
  isPublished: IsPublished,
): IgnoredBecause | undefined => {
  if (output.outcome.status !== "success") return "not_success";
  return control.type === "switch_agent_frame" ? flawOf(control, isPublished) : undefined;
};

const jsonOf = (value: ToolValue): Json => encode(value);

const actOf = (of: OfCall, control: ToolControl, mayStillSwitch: boolean): Act => {
  switch (control.type) {
    case "finish":
      return { type: "finish", ...of, value: jsonOf(control.value) };
    case "fail":
      return { type: "fail", ...of, failure: control.failure };
    case "switch_agent_frame": {
      const { frame_id: frame, task = "", initial_nodes: nodes } = control;
      return mayStillSwitch ? { type: "switch", ...of, frame, task, nodes } : { type: "too_many_switches", ...of };
    }
  }
};

/** Decides which control of a batch acts: the first that counts. `maySwitch`: the turn has switches left. */
export const decideControls = (
  calls: readonly ControlledCall[],
  maySwitch: boolean,
  isPublished: IsPublished,
): { readonly act: Act; readonly ignored: readonly IgnoredControl[] } => {
  let act: Act = { type: "go_on" };
  const ignored: IgnoredControl[] = [];
  for (const call of calls) {
    const { control } = call.output;
    if (control === undefined) continue;
    const because = act.type === "go_on" ? flawOfCall(call, control, isPublished) : "not_first";
    if (because === undefined) act = actOf({ call: call.name, tool: call.tool }, control, maySwitch);
    else ignored.push({ call: call.name, control: control.type, because });
  }
  return { act, ignored };
};
