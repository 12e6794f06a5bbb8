/** Flows of the mix: a few programs that come to every kind of node. */
import type { EventOf, FlowNode } from "@pawl/sansio-core";
import type { Dice } from "./dice.ts";

const tool = (name: string): FlowNode => ({ node_type: "use_tool", tool_name: name, argument: "a", named_args: [] });
const lambda: FlowNode = { node_type: "lambda_data_apply", lambda_data_name: "l", target: "$a", output_type: "x" };
const bind: FlowNode = { node_type: "let_binding", target: "b", value: "$a", value_kind: "reference" };

const programs: readonly (readonly FlowNode[])[] = [
  [tool("t0"), lambda],
  [{ node_type: "parallel_block", branches: [[tool("t0")], [lambda, tool("t1")]] }],
  [{ node_type: "for_in", variable: "v", iterable: "x,y", body: [tool("t1"), lambda] }, bind],
  [lambda, { node_type: "return", value_expr: "$a" }],
];

type Submission = Omit<EventOf<"flow.submitted">, "type" | "request" | "hash">;

export const anyFlow = (dice: Dice): Submission => ({
  bindings: { a: "1" },
  flow: { name: "F", backend: "stub", nodes: dice.pick(programs) },
  tools: [
    { name: "t0", id: "tool:t0", parameters: [["a", "Int"]] },
    { name: "t1", id: "tool:t2", parameters: [] },
  ],
  lambdas: ["l"],
  unresolved: "placeholder",
});

/** One that is refused: nobody has built this kind of node. */
export const unbuilt: FlowNode = { node_type: "unbuilt", kind: "remember" };
