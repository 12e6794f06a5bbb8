/** A tool's step: an ordinary call where the tool is registered, its placeholder where it is not. */
import { type Json, type ToolCallOutput, canonicalJson } from "@pawl/tool-value";
import { stepBatch } from "../kernel/ids.ts";
import { bodyOf } from "./body.ts";
import type { FlowTool, Strand } from "./model.ts";
import { placeholder, toolBinding } from "./name.ts";
import type { NodeOf } from "./program.ts";
import { type Stage, cancelled } from "./stage.ts";
import { type Ground, failing } from "./strand.ts";
import { interpolate, namedArgument } from "./text.ts";

type ToolNode = NodeOf<"use_tool">;

const nameOf = ({ tool_name }: ToolNode): string => (tool_name === "" ? "UseTool" : tool_name);

/** What a tool came to, as text. A body that broke is told as the failure of its dispatch. */
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
  const misfit = stage.misfit();
  if (misfit !== undefined) return failing(strand, misfit);
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
