/** Flows of every sort, and what happens to those that are live. */
import type { Event, State } from "../../src/kernel/vocabulary.ts";
import { waitingsOf } from "../../src/flow/strand.ts";
import type { FlowSpec, LambdaResult } from "../../src/flow/model.ts";
import type { FlowNode } from "../../src/flow/program.ts";
import type { Dice } from "./dice.ts";
import { anyText } from "./value.ts";
import { toolNames } from "./world.ts";

const names = ["a", "b", "t0_result", "__proto__", ""] as const;
const texts = ["a", "$a", "${b}-é", "x, y", '["1","2"]', "a.output", "${t0_result.n}", ""] as const;
const tools = ["t0", "t1", "nobody", ""] as const;
const lambdas = ["l", "nobody", ""] as const;

const leaf = (dice: Dice): FlowNode =>
  dice.pick<() => FlowNode>([
    () => toolNode(dice),
    () => toolNode(dice),
    () => toolNode(dice),
    () => lambdaNode(dice),
    () => lambdaNode(dice),
    () => ({
      node_type: "let_binding",
      target: dice.pick(names),
      value: dice.pick(texts),
      value_kind: dice.pick(["reference", "literal"]),
    }),
    () => ({ node_type: "break" }),
    () => ({ node_type: "continue" }),
    () => ({ node_type: "return", value_expr: dice.pick(texts) }),
  ])();

const toolNode = (dice: Dice): FlowNode => ({
  node_type: "use_tool",
  tool_name: dice.pick(tools),
  argument: dice.pick(texts),
  named_args: dice.isUnder(60)
    ? []
    : dice.list(2, () => ({
        name: dice.pick(names),
        value: dice.pick(texts),
        value_kind: dice.pick(["reference", ""]),
      })),
});

const lambdaNode = (dice: Dice): FlowNode => ({
  node_type: "lambda_data_apply",
  lambda_data_name: dice.pick(lambdas),
  target: dice.pick(texts),
  output_type: dice.pick(names),
});

const anyNode = (dice: Dice, depth: number): FlowNode => {
  const body = (): readonly FlowNode[] => dice.list(3, () => anyNode(dice, depth - 1));
  if (depth === 0 || dice.isUnder(55)) return leaf(dice);
  switch (dice.below(3)) {
    case 0: {
      const compared = {
        condition: dice.pick(texts),
        comparison_op: dice.pick(["", "==", ">"]),
        comparison_value: "1",
      };
      const rest = { conditions: [], conjunctor: "", then_body: body(), else_body: body() };
      return { node_type: "conditional", ...compared, ...rest };
    }
    case 1:
      return { node_type: "for_in", variable: dice.pick(names), iterable: dice.pick(texts), body: body() };
    default:
      return { node_type: "parallel_block", branches: dice.list(3, body) };
  }
};

const anySpec = (dice: Dice): FlowSpec => ({
  flow: { name: "F", backend: "stub", nodes: dice.list(5, () => anyNode(dice, 3)) },
  tools: ["t0", "t1"].map((name) => ({ name, id: `tool:${dice.pick(toolNames)}`, parameters: [["a", "Int"]] })),
  lambdas: dice.pick([["l"], []]),
  unresolved: dice.isUnder(90) ? "placeholder" : "fail",
});

export const anySubmission = (
  dice: Dice,
): Omit<Extract<Event, { type: "flow.submitted" }>, "type" | "request" | "hash"> => ({
  bindings: dice.pick<{ readonly [name: string]: string }>([{}, { a: "1" }, { a: "x,y", b: '{"n":1}' }]),
  ...anySpec(dice),
});

/** One that is refused. */
export const unbuilt: FlowNode = { node_type: "unbuilt", kind: "remember" };

export const anyLambdaResult = (dice: Dice): LambdaResult =>
  dice.isUnder(85) ? { status: "ok", output: anyText(dice) } : { status: "err", message: "no" };

/** A lambda that a flow waits for: of whom, and by which name. */
export const askedLambda = (
  dice: Dice,
  { flows }: State,
): { readonly request: string; readonly id: string } | undefined => {
  const asked = flows
    .values()
    .flatMap((row) => waitingsOf(row, "lambda").map(({ id }) => ({ request: row.request, id })));
  return asked.length === 0 ? undefined : dice.pick(asked);
};

/** Returns what happens to live flows, but to their calls. */
export const ofFlows = (dice: Dice, state: State): Event | undefined => {
  const asked = askedLambda(dice, state);
  if (asked !== undefined && dice.isUnder(85))
    return { type: "lambda.applied", ...asked, result: anyLambdaResult(dice) };
  const [request] = state.flows.keys();
  return request !== undefined && dice.isUnder(10) ? { type: "flow.consumer_gone", request } : undefined;
};
