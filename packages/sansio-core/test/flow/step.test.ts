/** Flows in a scope: what is asked when, what a flow refuses, and that every flow ends. */
import { errorOutput, failureOutput, runtimeFailure, successOutput } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import type { FlowSpec } from "../../src/flow/model.ts";
import type { FlowNode, NodeOf } from "../../src/flow/program.ts";
import type { Options } from "../../src/kernel/options.ts";
import { outstanding } from "../../src/machine.ts";
import { Rig, tool } from "../rig.ts";

const use = (tool_name: string, argument = ""): FlowNode => ({
  node_type: "use_tool",
  tool_name,
  argument,
  named_args: [],
});
const bind = (target: string, value: string, value_kind = "literal"): FlowNode => ({
  node_type: "let_binding",
  target,
  value,
  value_kind,
});
const back = (value_expr: string): FlowNode => ({ node_type: "return", value_expr });
const loop = (variable: string, iterable: string, ...body: readonly FlowNode[]): FlowNode => ({
  node_type: "for_in",
  variable,
  iterable,
  body,
});
const par = (...branches: readonly (readonly FlowNode[])[]): FlowNode => ({ node_type: "parallel_block", branches });
const when = (condition: string, more: Partial<NodeOf<"conditional">>): FlowNode => ({
  node_type: "conditional",
  condition,
  comparison_op: "",
  comparison_value: "",
  conditions: [],
  conjunctor: "",
  then_body: [],
  else_body: [],
  ...more,
});

const tools = [{ name: "t", id: "tool:t", parameters: [] }];

const submit = (rig: Rig, nodes: readonly FlowNode[], more: Partial<FlowSpec> = {}, bindings = {}): Rig =>
  rig.tell({
    type: "flow.submitted",
    request: "f",
    hash: "h",
    bindings,
    flow: { name: "F", backend: "b", nodes },
    tools,
    lambdas: [],
    unresolved: "placeholder",
    ...more,
  });
const open = (options: Partial<Options> = {}): Rig => Rig.open([tool("t")], options);

/** How a flow of nodes that ask nothing of the world ends. */
const ended = (nodes: readonly FlowNode[], bindings = {}, options: Partial<Options> = {}) => {
  const rig = submit(open(options), nodes, {}, bindings);
  const row = rig.skip().state.requests.at("f");
  if (row?.phase !== "replying" || row.flow === undefined) throw new Error("the flow did not end");
  return row.flow;
};
const output = (nodes: readonly FlowNode[], bindings = {}): string => {
  const { ending } = ended(nodes, bindings);
  return ending.type === "completed" ? ending.output : ending.type === "returned" ? ending.value : ending.error.type;
};

describe("the nodes of a flow", () => {
  it("let binds text as it is, and a reference by its exact key or empty", () => {
    expect(ended([bind("a", "$x"), bind("b", "a", "reference"), bind("c", "a.output", "reference")]).bindings).toEqual({
      a: "$x",
      b: "$x",
      c: "",
    });
  });
  it("a condition takes its side; a missing one puts out nothing", () => {
    const both = { then_body: [bind("s", "then")], else_body: [bind("s", "else")] };
    expect(output([when("x", both)], { x: "1" })).toBe("then");
    expect(output([when("x", both)], { x: "false" })).toBe("else");
    expect(output([when("x", { then_body: [bind("s", "then")] })], { x: "0" })).toBe("");
    const either = { comparison_op: "==", comparison_value: "2", conditions: [["x", ">", "9"] as const] };
    expect(output([when("x", { ...both, ...either })], { x: "10" })).toBe("else");
    expect(output([when("x", { ...both, ...either, conjunctor: "or" })], { x: "10" })).toBe("then");
  });
  it("a loop ends with break, skips with continue, and drops what such a turn put out", () => {
    const skip = when("v", { comparison_op: "==", comparison_value: "b", then_body: [{ node_type: "continue" }] });
    expect(output([loop("v", "a,b,c", bind("x", "out"), skip)])).toBe("out\nout");
    const stop = when("v", { comparison_op: "==", comparison_value: "b", then_body: [{ node_type: "break" }] });
    expect(ended([loop("v", "a,b,c", use("n", "v"), stop)])).toMatchObject({
      ending: { output: "tool:n(a)" },
      bindings: { v: "b", n_result: "tool:n(b)" },
      steps_executed: 1,
      step_counter: 2,
    });
  });
  it("a loop's word outside of loops is passed over at the top, and is not counted", () => {
    expect(
      ended([{ node_type: "break" }, when("x", { then_body: [{ node_type: "continue" }] }), bind("a", "on")]),
    ).toMatchObject({
      ending: { type: "completed", output: "on" },
      steps_executed: 1,
    });
  });
  it("a return inside loops and conditions ends the flow with its value, and counts", () => {
    const nodes = [loop("v", "a,b", when("v", { then_body: [back("got ${v}")] })), use("never")];
    expect(ended(nodes)).toMatchObject({ ending: { type: "returned", value: "got a" }, steps_executed: 1 });
  });
  it("branches have bindings of their own; their outputs are joined in order, and the largest count goes on", () => {
    const branches = par([bind("x", "1"), use("a", "x")], [], [use("b"), use("c", "x")], [{ node_type: "break" }]);
    expect(ended([branches, use("d", "x")], { x: "0" })).toMatchObject({
      bindings: { x: "0", d_result: "tool:d(0)" },
      step_counter: 4,
    });
    expect(output([branches], { x: "0" })).toBe("tool:a(1)\ntool:c(0)");
    expect(output([par()])).toBe("");
  });
  it("of several branches the first failure counts, then the first return", () => {
    expect(output([par([bind("x", "1")], [back("one")], [back("two")]), use("never")])).toBe("one");
    const rig = submit(open(), [par([back("one")], [use("n")])], { unresolved: "fail" });
    expect(rig.skip().state.requests.at("f")).toMatchObject({
      flow: { ending: { type: "failed", error: { type: "MissingDependency" } }, step_counter: 1 },
    });
  });
});

describe("a flow's call", () => {
  const id = "flow:f//0";
  it("is an ordinary one, under the name of its place, and its output goes on", () => {
    const rig = submit(open(), [use("t", "${x}")], {}, { x: "é" });
    rig.wants({ type: "flow.observe" }).wants({ type: "flow.observe" });
    rig.wants({ type: "observe", what: "call_started", call_id: id });
    rig.wants({ type: "tool.execute", call: `f:${id}`, args: "é" } as never).nothingMore();
    const settled = { type: "call.settled", call: `f:${id}`, attempt: 1, run: 1, duration_ms: 1 } as const;
    rig.tell({ ...settled, result: { type: "done", output: successOutput({ n: [1] }) } });
    rig.wants({ type: "observe", what: "call_completed" });
    rig.wants({ type: "flow.observe", event: expect.objectContaining({ full_output: '{"n":[1]}' }) });
    rig.wants({ type: "flow.observe" }).wants({ type: "reply", request: "f" }).nothingMore();
    expect(rig.state.calls.size + rig.state.batches.size + rig.state.flows.size).toBe(0);
  });
  it("that fails is told by its message; one that broke by what broke it", () => {
    const outputs = [
      [errorOutput("no such page"), "no such page"],
      [
        failureOutput(runtimeFailure("internal", "tool_internal_error", "hidden")),
        "tool 't' dispatch task failed: hidden",
      ],
    ] as const;
    for (const [settled, text] of outputs) {
      const rig = submit(open(), [use("t")]).skip();
      const result = { type: "done", output: settled } as const;
      rig.tell({ type: "call.settled", call: `f:${id}`, attempt: 1, run: 1, duration_ms: 1, result }).skip();
      expect(rig.state.requests.at("f")).toMatchObject({ flow: { bindings: { t_result: text } } });
    }
  });
  it("of a tool that the catalog has lost fails at once, and the flow goes on in the same step", () => {
    const rig = submit(open(), [loop("v", "a,b,c", use("t", "v"))], {
      tools: [{ name: "t", id: "tool:gone", parameters: [] }],
    });
    expect(rig.skip().state.requests.at("f")).toMatchObject({ phase: "replying", flow: { step_counter: 3 } });
  });
  it("waits for a person where its tool wants one", () => {
    const rig = Rig.open([tool("t", { policy: "requires_approval" })]);
    submit(rig, [use("t", "x")]).skip();
    rig.tell({ type: "request.cancelled", request: "f" }).skip();
    expect(rig.state.requests.at("f")).toMatchObject({ flow: { ending: { error: { type: "UpstreamCancelled" } } } });
  });
  it("is asked for again after a loss, from its place", () => {
    const rig = submit(open(), [use("n"), use("t", "x")]).skip();
    const { protocol, options } = rig.state.scope;
    rig.tell({ type: "scope.opened", epoch: 2, owner: "d2", protocol, options }).skip();
    expect(outstanding(rig.state)).toMatchObject([{ type: "tool.execute", call: "f:flow:f//1", run: 2 }]);
  });
});

const wrong = (nodes: readonly FlowNode[]): Rig =>
  open().refuses(
    {
      type: "flow.submitted",
      request: "f",
      hash: "h",
      bindings: {},
      flow: { name: "F", backend: "", nodes },
      tools,
      lambdas: [],
      unresolved: "fail",
    },
    "flow_refused",
  );

describe("a flow is refused", () => {
  it("with a node, an expression or a condition that is not built, however deep, and with bodies too deep", () => {
    wrong([loop("v", "", par([{ node_type: "unbuilt", kind: "remember" }]))]);
    wrong([{ node_type: "let_binding", target: "x", value: "", value_kind: "", value_ast: {} }]);
    wrong([when("x", { cond: { kind: "lit" } })]);
    let nodes: readonly FlowNode[] = [];
    for (let i = 0; i < 1000; i++) nodes = [loop("v", "a", ...nodes)];
    wrong(nodes).nothingMore();
  });
  it("under the id of a live request, whichever sort that is", () => {
    const rig = submit(open(), [use("t")]).skip();
    rig.refuses({ type: "request.submitted", request: "f", hash: "h", calls: [] }, "request_exists");
    rig.refuses({ type: "request.submitted", request: "f", hash: "g", calls: [] }, "request_conflict");
    rig.refuses(
      { type: "lambda.applied", request: "f", id: "x", result: { status: "ok", output: "" } },
      "effect_unknown",
    );
    rig.refuses({ type: "flow.consumer_gone", request: "g" }, "request_unknown").nothingMore();
  });
});

describe("every flow ends", () => {
  const endless = loop("a", "1,2,3,4,5,6,7,8,9,0", loop("b", "1,2,3,4,5,6,7,8,9,0", bind("x", "y")));
  it("after as many nodes as its scope allows", () => {
    expect(ended([endless], {}, { max_flow_nodes: 50 }).ending).toEqual({
      type: "failed",
      error: { type: "LimitExceeded", limit: "max_flow_nodes", allowed: 50 },
    });
    expect(ended([endless]).ending.type).toBe("completed");
  });
  it("after as much text as its scope allows, which doubling comes to soon", () => {
    const doubling = Array.from({ length: 80 }, (): FlowNode => loop("w", "$w$w"));
    expect(ended(doubling, { w: "xx" }, { max_flow_text: 10_000 }).ending).toEqual({
      type: "failed",
      error: { type: "LimitExceeded", limit: "max_flow_text", allowed: 10_000 },
    });
  });
});
