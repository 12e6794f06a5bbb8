/**
 * Walks a flow: each strand from node to node, until the world is asked for something or the strand is over. Every node
 * and every end of a body is counted, so that there is an end to it.
 */
import type { ToolCallOutput } from "@pawl/tool-value";
import { absurd } from "../kernel/error.ts";
import { holds } from "./value.ts";
import { type Stage, applyLambda, cancelled, lambdaApplied, toolUsed, useTool } from "./node.ts";
import type { Ending, LambdaResult, Strand, StrandState } from "./model.ts";
import type { FlowNode, NodeOf } from "./program.ts";
import * as s from "./strand.ts";
import { iterated, valueReference } from "./text.ts";

/** The answer that a strand was waiting for, by the name of its step. */
export type Answer = { readonly id: string } & (
  | { readonly type: "call"; readonly output: ToolCallOutput }
  | { readonly type: "lambda"; readonly result: LambdaResult }
);

const bind = (stage: Stage, strand: Strand, { target, value, value_kind }: NodeOf<"let_binding">): Strand => {
  const text = value_kind === "reference" ? (strand.bindings.get(value) ?? "") : value;
  return s.completed(s.bound(strand, target, stage.made(text)), text);
};

const loop = (stage: Stage, strand: Strand, { variable, iterable }: NodeOf<"for_in">): Strand => {
  const items = iterated(stage.made(valueReference(iterable, strand.bindings, stage.room)));
  return items.length === 0 ? s.completed(strand, "") : s.looped(strand, variable, items);
};

const choose = (strand: Strand, node: NodeOf<"conditional">): Strand => {
  const { condition, comparison_op, comparison_value } = node;
  const isTrue = holds([condition, comparison_op, comparison_value], node, strand.bindings);
  return s.entered(strand, { type: isTrue ? "then" : "else" });
};

const visit = (stage: Stage, ground: s.Ground, strand: Strand, node: FlowNode): Strand => {
  switch (node.node_type) {
    case "use_tool":
      return useTool(stage, ground, strand, node);
    case "lambda_data_apply":
      return applyLambda(stage, ground, strand, node);
    case "let_binding":
      return bind(stage, strand, node);
    case "conditional":
      return choose(strand, node);
    case "for_in":
      return loop(stage, strand, node);
    case "parallel_block":
      return branch(stage, ground, strand, node);
    case "break":
    case "continue":
      return s.leftTurn(strand, node.node_type);
    case "return":
      return s.returned(strand, stage.made(valueReference(node.value_expr, strand.bindings, stage.room)));
    case "unbuilt": // Refused when the flow was submitted.
      return s.failing(strand, { type: "MissingDependency", name: node.kind });
    default:
      return absurd(node);
  }
};

/** From where the strand is, as far as it goes by itself. */
export const walk = (stage: Stage, ground: s.Ground, from: Strand): Strand => {
  let strand = from;
  while (strand.state.type === "walking") {
    const problem = stage.come();
    const node = s.nodeAt(ground, strand);
    if (problem !== undefined) strand = s.failing(strand, problem);
    else strand = node === undefined ? s.left(strand) : visit(stage, ground, strand, node);
  }
  return strand;
};

const blockName = "Par";

type Branches = Extract<StrandState, { readonly type: "branches" }>;

const groundOf = (ground: s.Ground, strand: Strand, index: number): s.Ground => {
  const node = s.nodeAt(ground, strand);
  return s.branchGround(ground, strand, node?.node_type === "parallel_block" ? (node.branches[index] ?? []) : []);
};

/** A strand a branch, each with bindings and a counter of its own from here on. */
const branch = (stage: Stage, ground: s.Ground, strand: Strand, { branches }: NodeOf<"parallel_block">): Strand => {
  const begun = stage.begun(ground, strand, blockName, "par");
  if (begun.state.type !== "walking") return begun;
  const { bindings, counter } = begun;
  const strands = branches.map((nodes, index) => {
    const frame = { part: { type: "branch", index }, next: 0, output: "" } as const;
    const first: Strand = { bindings, counter, frames: [frame], state: { type: "walking" } };
    return walk(stage, s.branchGround(ground, begun, nodes), first);
  });
  return join(stage, ground, begun, { type: "branches", step: strand.counter, strands });
};

const outputsOf = (endings: readonly Ending[]): string =>
  endings.reduce((all, ending) => s.joined(all, ending.type === "completed" ? ending.output : ""), "");

/** The block's strand with these branches; it goes on when all of them are over. */
const join = (stage: Stage, ground: s.Ground, strand: Strand, state: Branches): Strand => {
  const endings = state.strands.flatMap((one) => (one.state.type === "over" ? [one.state.ending] : []));
  if (endings.length < state.strands.length) return { ...strand, state };
  return joined(stage, ground, strand, { ...state, endings });
};

/** The first failure counts, else the first return, else all that was put out. */
const joined = (
  stage: Stage,
  ground: s.Ground,
  strand: Strand,
  { strands, step, endings }: Branches & { readonly endings: readonly Ending[] },
): Strand => {
  const failure = endings.find((ending) => ending.type === "failed");
  if (failure !== undefined) return s.failing(strand, failure.error);
  const counter = strands.reduce((max, one) => Math.max(max, one.counter), strand.counter);
  const next: Strand = { ...strand, counter, state: { type: "walking" } };
  const back = endings.find((ending) => ending.type === "returned");
  const output = stage.made(back === undefined ? outputsOf(endings) : back.value);
  const error = stage.ended(ground, next, { step, name: blockName, success: true, output });
  if (error !== undefined) return s.failing(next, error);
  return back === undefined ? s.completed(next, output) : s.returned(next, output);
};

const answered = (stage: Stage, ground: s.Ground, strand: Strand, answer: Answer): Strand | undefined => {
  const node = s.nodeAt(ground, strand);
  if (answer.type === "call") {
    const { output } = answer;
    return node?.node_type === "use_tool" ? toolUsed(stage, ground, strand, { node, output }) : undefined;
  }
  const { result } = answer;
  return node?.node_type === "lambda_data_apply" ? lambdaApplied(stage, ground, strand, { node, result }) : undefined;
};

/** The strand that waits for this goes on, and those around it; undefined where nobody waits for it. */
export const resume = (stage: Stage, ground: s.Ground, strand: Strand, answer: Answer): Strand | undefined => {
  const { state } = strand;
  if (state.type !== "branches") {
    const isAwaited = state.type === answer.type && state.id === answer.id;
    const next = isAwaited ? answered(stage, ground, strand, answer) : undefined;
    return next === undefined ? undefined : walk(stage, ground, next);
  }
  for (const [i, one] of state.strands.entries()) {
    const next = resume(stage, groundOf(ground, strand, i), one, answer);
    if (next === undefined) continue;
    return walk(stage, ground, join(stage, ground, strand, { ...state, strands: state.strands.with(i, next) }));
  }
  return undefined;
};

/** Cancels: lambdas are no longer waited for; calls are told to stop, and say when they have. */
export const cancel = (stage: Stage, ground: s.Ground, strand: Strand): Strand => {
  const { state } = strand;
  if (state.type === "lambda") return s.failing(strand, cancelled);
  if (state.type !== "branches") return strand;
  const strands = state.strands.map((one, i) => cancel(stage, groundOf(ground, strand, i), one));
  return join(stage, ground, strand, { ...state, strands });
};
