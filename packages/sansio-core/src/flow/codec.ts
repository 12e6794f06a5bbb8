import {
  type Codec,
  array,
  codecFrom,
  defaulted,
  dict,
  json,
  laidOut,
  lazy,
  oneOf,
  optional,
  record,
  refuse,
  string,
  tagged,
  text,
  u64,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type FlowNode, type NamedArg, type Parameter, type Program, unbuiltKinds } from "./program.ts";
import type { Comparison } from "./value.ts";
import type { DispatchError, Ending, FlowEnd, FlowTool, LambdaResult, Unresolved } from "./model.ts";

const kept = (): boolean => false;
const named = defaulted(string, "", kept);
const said = defaulted(text, "", kept);

/** A list of so many texts. */
const texts = <A extends readonly string[]>(name: string, size: A["length"]): Codec<A> => {
  const is = (u: unknown): u is A => Array.isArray(u) && u.length === size && u.every(string.is);
  return codecFrom<A>(name, is, (u, c) => (is(u) ? E.right(u) : refuse(u, c, `expected ${name}`)));
};
const ComparisonCodec = laidOut(texts<Comparison>("three texts: left, operator, right", 3), {
  type: "items",
  of: text,
});
const ParameterCodec = texts<Parameter>("two texts: a parameter's name and type", 2);

const NamedArgCodec: Codec<NamedArg> = record<NamedArg>("struct NamedArg", {
  name: string,
  value: said,
  value_kind: named,
});

const body: Codec<readonly FlowNode[]> = array(lazy("a flow node", () => FlowNodeCodec));
const bodyOrNone = defaulted<readonly FlowNode[]>(body, [], kept);

type Built = Exclude<FlowNode, { readonly node_type: "unbuilt" }>;

const BuiltCodec: Codec<Built> = tagged<Built, "node_type">("flow node", "node_type", {
  use_tool: {
    tool_name: named,
    argument: said,
    named_args: defaulted<readonly NamedArg[]>(array(NamedArgCodec), [], kept),
  },
  lambda_data_apply: { lambda_data_name: named, target: said, output_type: named },
  let_binding: { target: string, value: said, value_kind: named, value_ast: optional(json) },
  conditional: {
    condition: said,
    comparison_op: named,
    comparison_value: said,
    conditions: defaulted<readonly Comparison[]>(array(ComparisonCodec), [], kept),
    conjunctor: named,
    cond: optional(json),
    then_body: bodyOrNone,
    else_body: bodyOrNone,
  },
  for_in: { variable: string, iterable: said, body: bodyOrNone },
  parallel_block: { branches: array(body) },
  return: { value_expr: said },
  break: {},
  continue: {},
});

const unbuilt: ReadonlySet<unknown> = new Set(unbuiltKinds);
const kindOf = (u: unknown): unknown =>
  typeof u === "object" && u !== null ? (u as { readonly node_type?: unknown }).node_type : undefined;

/** A node of the language; of one that is not built its kind alone is kept, so that it can be refused by name. */
export const FlowNodeCodec: Codec<FlowNode> = laidOut(
  codecFrom<FlowNode>(
    "a flow node",
    (u): u is FlowNode => BuiltCodec.is(u) || kindOf(u) === "unbuilt",
    (u, c) => {
      const kind = kindOf(u);
      return unbuilt.has(kind) ? E.right({ node_type: "unbuilt", kind: kind as string }) : BuiltCodec.validate(u, c);
    },
    (node) => (node.node_type === "unbuilt" ? { node_type: node.kind } : BuiltCodec.encode(node)),
  ),
  { type: "as", of: () => BuiltCodec },
);

/** A flow in its JSON form. */
export const ProgramCodec: Codec<Program> = record<Program>("struct Flow", {
  name: string,
  backend: named,
  nodes: body,
});

/** Reads and writes a tool as a flow's submission names it. */
export const FlowToolCodec: Codec<FlowTool> = record<FlowTool>("struct FlowTool", {
  name: string,
  id: string,
  parameters: defaulted<readonly Parameter[]>(array(ParameterCodec), [], kept),
});

export const LambdaResultCodec: Codec<LambdaResult> = tagged<LambdaResult, "status">("LambdaResult", "status", {
  ok: { output: text },
  err: { message: text },
});

const DispatchErrorCodec: Codec<DispatchError> = tagged<DispatchError, "type">("DispatchError", "type", {
  BackendError: { name: string, message: text },
  UpstreamCancelled: {},
  MissingDependency: { name: string },
  ChannelClosed: {},
  LimitExceeded: { limit: oneOf("a limit", "max_flow_nodes", "max_flow_text"), allowed: u64 },
});

export const EndingCodec: Codec<Ending> = tagged<Ending, "type">("Ending", "type", {
  completed: { output: text },
  returned: { value: text },
  failed: { error: DispatchErrorCodec },
});

export const FlowEndCodec: Codec<FlowEnd> = record<FlowEnd>("struct FlowEnd", {
  ending: EndingCodec,
  bindings: dict(text),
  steps_executed: u64,
  step_counter: u64,
});

export const specFields = {
  flow: ProgramCodec,
  tools: defaulted<readonly FlowTool[]>(array(FlowToolCodec), [], kept),
  lambdas: defaulted<readonly string[]>(array(string), [], kept),
  unresolved: defaulted<Unresolved>(oneOf("placeholder or fail", "placeholder", "fail"), "placeholder", kept),
};
