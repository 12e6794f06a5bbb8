/** Steps of a flow that ask the world: tools and lambdas, on the stage that counts them. */
import { type Json, type ToolCallOutput, canonicalJson } from "@pawl/tool-value";
import { type NodeOf, bodyOf } from "./program.ts";
import {
  type DispatchError,
  type FlowRow,
  type FlowTool,
  type LambdaResult,
  type StepEvent,
  type Strand,
  stepId,
} from "./model.ts";
import { exactOrText, interpolate, lambdaBinding, namedArgument, placeholder, toolBinding } from "./text.ts";
import * as s from "./strand.ts";
import { type Ground, failing } from "./strand.ts";
import type { Draft } from "../kernel/draft.ts";
import { stepBatch } from "../kernel/vocabulary.ts";

type StepType = "use_tool" | "lambda_data_apply" | "par";

/** A step that is over: its index, its name, and what it put out. */
export interface Done {
  readonly step: number;
  readonly name: string;
  readonly success: boolean;
  readonly output: string;
}

export const cancelled: DispatchError = { type: "UpstreamCancelled" };
const closed: DispatchError = { type: "ChannelClosed" };

export class Stage {
  readonly draft: Draft;
  readonly row: FlowRow;
  #walked: number;
  #written: number;

  constructor(draft: Draft, row: FlowRow) {
    this.draft = draft;
    this.row = row;
    this.#walked = row.walked;
    this.#written = row.written;
  }

  get counts(): Pick<FlowRow, "walked" | "written"> {
    return { walked: this.#walked, written: this.#written };
  }

  /** Comes to a node, or to the end of a body; says why the flow may not, if so. */
  come(): DispatchError | undefined {
    this.#walked += 1;
    return this.problem();
  }

  /** Counts a text that was made; one that is too long is found before the flow goes on. */
  made(text: string): string {
    this.#written += text.length;
    return text;
  }

  /** How much text the flow may still make. */
  get room(): number {
    return Math.max(0, this.draft.options.max_flow_text - this.#written);
  }

  problem(): DispatchError | undefined {
    if (this.row.cancelled) return cancelled;
    const { max_flow_nodes, max_flow_text } = this.draft.options;
    if (this.#walked > max_flow_nodes) {
      return { type: "LimitExceeded", limit: "max_flow_nodes", allowed: max_flow_nodes };
    }
    if (this.#written <= max_flow_text) return undefined;
    return { type: "LimitExceeded", limit: "max_flow_text", allowed: max_flow_text };
  }

  /** A consumer that is gone is what ends the flow, if its host says so. */
  #show(event: StepEvent): DispatchError | undefined {
    if (this.row.gone) return closed;
    this.draft.emit({ type: "flow.observe", request: this.row.request, event });
    return undefined;
  }

  #path(ground: s.Ground, strand: Strand): { readonly branch_path?: string } {
    const { path } = s.placeOf(ground, strand);
    return path === "" ? {} : { branch_path: path };
  }

  /** The strand with its next step counted, and begun. */
  begun(ground: s.Ground, strand: Strand, step_name: string, step_type: StepType): Strand {
    const { counter: step_index } = strand;
    const path = this.#path(ground, strand);
    const timestamp_ms = this.draft.at;
    const error = this.#show({ kind: "step_start", step_name, step_index, step_type, ...path, timestamp_ms });
    const begun = { ...strand, counter: step_index + 1 };
    return error === undefined ? begun : s.failing(begun, error);
  }

  ended(ground: s.Ground, strand: Strand, { step, name, success, output }: Done): DispatchError | undefined {
    return this.#show({
      kind: "step_complete",
      step_name: name,
      step_index: step,
      success,
      full_output: output,
      tokens_input: 0,
      tokens_output: 0,
      ...this.#path(ground, strand),
      timestamp_ms: this.draft.at,
    });
  }

  /** A step is over: what it put out is bound and shown, and the strand goes on. */
  finished(ground: s.Ground, strand: Strand, binding: string | undefined, done: Done): Strand {
    const next = s.bound(strand, binding, this.made(done.output));
    const error = this.ended(ground, next, done);
    return error === undefined ? s.completed(next, done.output) : s.failing(next, error);
  }

  /** Names the step at which the strand stands. */
  idOf(ground: s.Ground, strand: Strand): string {
    return stepId(this.row.request, s.placeOf(ground, strand));
  }

  /** The strand waits for what its step has asked of the world. */
  waiting(strand: Strand, type: "call" | "lambda", id: string): Strand {
    return { ...strand, state: { type, id, step: strand.counter - 1, born: this.draft.seq } };
  }
}

// A tool's step: an ordinary call where the tool is registered, its placeholder where it is not.

type ToolNode = NodeOf<"use_tool">;

const nameOf = ({ tool_name }: ToolNode): string => (tool_name === "" ? "UseTool" : tool_name);

/** Returns a tool's output as text. A body that broke is told as the failure of its dispatch. */
const textOfOutput = (tool: string, { outcome }: ToolCallOutput): string => {
  if (outcome.status === "success") {
    return typeof outcome.payload === "string" ? outcome.payload : canonicalJson(outcome.payload);
  }
  const { message } = outcome.payload;
  const isBroken = outcome.status === "failure" && outcome.payload.code === "tool_internal_error";
  return isBroken ? `tool '${tool}' dispatch task failed: ${message}` : message;
};

const argumentsOf = (stage: Stage, { bindings }: Strand, node: ToolNode, { parameters }: FlowTool): Json => {
  const { argument, named_args } = node;
  if (named_args.length === 0) return stage.made(interpolate(argument, bindings, stage.room));
  const pairs = named_args.map((arg) => [arg.name, stage.made(namedArgument(arg, bindings, stage.room))] as const);
  return bodyOf(pairs, parameters);
};

/** Asks for a call of the tool, in a batch of its own. */
const call = (
  stage: Stage,
  ground: Ground,
  strand: Strand,
  asked: { readonly node: ToolNode; readonly tool: FlowTool },
): Strand => {
  const args = argumentsOf(stage, strand, asked.node, asked.tool);
  const problem = stage.problem();
  if (problem !== undefined) return failing(strand, problem);
  const { request } = stage.row;
  const id = stage.idOf(ground, strand);
  const calls = [{ id, tool: asked.tool.id, by_id: true, args }];
  stage.draft.raise({ type: "batch.create", ref: stepBatch(request, id), request, prefix: "", step: id, calls });
  return stage.waiting(strand, "call", id);
};

export const useTool = (stage: Stage, ground: Ground, strand: Strand, node: ToolNode): Strand => {
  const begun = stage.begun(ground, strand, nameOf(node), "use_tool");
  if (begun.state.type !== "walking") return begun;
  const { tool_name, argument } = node;
  const tool = stage.row.tools.find(({ name }) => name === tool_name);
  if (tool !== undefined) return call(stage, ground, begun, { node, tool });
  if (stage.row.unresolved === "fail") {
    return failing(begun, { type: "MissingDependency", name: `tool '${tool_name}'` });
  }
  const output = placeholder("tool", tool_name, argument, strand.bindings);
  const done = { step: strand.counter, name: nameOf(node), success: true, output };
  return stage.finished(ground, begun, toolBinding(tool_name), done);
};

/** The call has ended. A cancel that came before is what the step ends with, whatever the tool did. */
export const toolUsed = (
  stage: Stage,
  ground: Ground,
  strand: Strand,
  used: { readonly node: ToolNode; readonly output: ToolCallOutput },
): Strand => {
  if (stage.row.cancelled) return failing(strand, cancelled);
  const { node, output } = used;
  const done = {
    step: strand.counter - 1,
    name: nameOf(node),
    success: output.outcome.status === "success",
    output: textOfOutput(node.tool_name, output),
  };
  return stage.finished(ground, strand, toolBinding(node.tool_name), done);
};

// A lambda's step: the driver applies it where it is registered, its placeholder stands where it is not.

type LambdaNode = NodeOf<"lambda_data_apply">;

const lambdaName = ({ lambda_data_name }: LambdaNode): string =>
  lambda_data_name === "" ? "LambdaApply" : lambda_data_name;

const finished = (
  stage: Stage,
  ground: Ground,
  strand: Strand,
  { node, output }: { readonly node: LambdaNode; readonly output: string },
): Strand => {
  const done = { step: strand.counter - 1, name: lambdaName(node), success: true, output };
  return stage.finished(ground, strand, lambdaBinding(node.target, node.output_type), done);
};

const ask = (stage: Stage, ground: Ground, strand: Strand, { lambda_data_name: name, target }: LambdaNode): Strand => {
  const { request } = stage.row;
  const id = stage.idOf(ground, strand);
  stage.draft.emit({ type: "lambda.apply", request, id, name, target, input: exactOrText(target, strand.bindings) });
  return stage.waiting(strand, "lambda", id);
};

export const applyLambda = (stage: Stage, ground: Ground, strand: Strand, node: LambdaNode): Strand => {
  const begun = stage.begun(ground, strand, lambdaName(node), "lambda_data_apply");
  if (begun.state.type !== "walking") return begun;
  const { lambda_data_name: name, target } = node;
  if (stage.row.lambdas.includes(name)) return ask(stage, ground, begun, node);
  if (stage.row.unresolved === "fail") return failing(begun, { type: "MissingDependency", name: `lambda '${name}'` });
  return finished(stage, ground, begun, { node, output: placeholder("lambda", name, target, strand.bindings) });
};

export const lambdaApplied = (
  stage: Stage,
  ground: Ground,
  strand: Strand,
  applied: { readonly node: LambdaNode; readonly result: LambdaResult },
): Strand => {
  const { node, result } = applied;
  if (result.status === "ok") return finished(stage, ground, strand, { node, output: result.output });
  return failing(strand, { type: "BackendError", name: node.lambda_data_name, message: result.message });
};
