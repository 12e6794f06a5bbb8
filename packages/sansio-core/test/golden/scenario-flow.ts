/** What flows live through: loops and branches with calls and lambdas in them, a lost owner, a cancel, a failure. */
import { successOutput } from "@pawl/tool-value";
import type { Event } from "../../src/kernel/vocabulary.ts";
import type { FlowNode } from "../../src/flow/program.ts";
import { acked, cancelRequest, resumed, settle } from "./event.ts";
import { Tape, tool } from "./tape.ts";

const use = (tool_name: string, argument: string): FlowNode => ({
  node_type: "use_tool",
  tool_name,
  argument,
  named_args: [],
});
const apply = (lambda_data_name: string, target: string): FlowNode => ({
  node_type: "lambda_data_apply",
  lambda_data_name,
  target,
  output_type: "",
});

const submitFlow = (request: string, nodes: readonly FlowNode[]): Event => ({
  type: "flow.submitted",
  request,
  hash: "f10a",
  bindings: { list: "rust,go" },
  flow: { name: "golden", backend: "stub", nodes },
  tools: [{ name: "search", id: "tool:search", parameters: [] }],
  lambdas: ["label"],
  unresolved: "placeholder",
});
const applied = (request: string, id: string, output: string): Event => ({
  type: "lambda.applied",
  request,
  id,
  result: { status: "ok", output },
});

/** Plays what follows when a step has ended in a call, and what when one is asked for. */
const asked = (call: string, id: string): readonly string[] => [`call_started ${id}`, `execute ${call} 1.1`];
const ref = (id: string): string => `f:${id}`;

/** A loop of calls, whose owner is lost in its second turn; then a lambda and what the loop left. */
export const loops = (): Tape => {
  const tape = Tape.open([tool("search")]);
  const loop: FlowNode = { node_type: "for_in", variable: "q", iterable: "list", body: [use("search", "$q")] };
  const [first, second] = ["flow:f/for_in[0].step[0]/0/0", "flow:f/for_in[1].step[0]/0/1"] as const;
  tape.tell(submitFlow("f", [loop, apply("label", "search_result"), use("unknown", "q")]), "flow.observe", "flow.observe", ...asked(ref(first), first));
  tape.tell(settle(ref(first), successOutput("r")), `call_completed ${first}`, "flow.observe", "flow.observe", ...asked(ref(second), second));
  const { protocol, options } = tape.state.scope;
  const opened = { type: "scope.opened", epoch: 2, owner: "d2", protocol, options } as const;
  tape.tell(opened, ...tape.crashed(second), `execute ${ref(second)} 1.2 owner_lost`);
  tape.tell(resumed(`${ref(second)} 1.2`, "owner_lost", "d2"));
  const done = settle(`${ref(second)} 1.2`, successOutput({ hits: 2 }));
  tape.tell(done, `call_completed ${second}`, "flow.observe", "flow.observe", "lambda.apply");
  const ends = ["flow.observe", "flow.observe", "flow.observe", "flow.observe", "reply f"];
  tape.tell(applied("f", "flow:f//1", "labelled"), ...ends);
  return tape.tell(acked("f"));
};

const branches = (): FlowNode => ({
  node_type: "parallel_block",
  branches: [[use("search", "a")], [apply("label", "b"), use("search", "$label")], [{ node_type: "return", value_expr: "list" }]],
});
const inBranch = ["flow:f/par[0].step[0]/0", "flow:f/par[1].step[0]/0"] as const;

/** Branches end in another order than they began, and the return of one of them is that of the flow. */
export const parallel = (): Tape => {
  const tape = Tape.open([tool("search")]);
  const [call, lambda] = inBranch;
  const starts = ["flow.observe", "flow.observe", "flow.observe", "flow.observe", "lambda.apply", ...asked(ref(call), call)];
  tape.tell(submitFlow("f", [branches(), use("search", "never")]), ...starts);
  const next = "flow:f/par[1].step[1]/0";
  tape.tell(applied("f", lambda, "x"), "flow.observe", "flow.observe", ...asked(ref(next), next));
  tape.tell(settle(ref(next)), `call_completed ${next}`, "flow.observe");
  tape.tell(settle(ref(call)), `call_completed ${call}`, "flow.observe", "flow.observe", "flow.observe", "reply f");
  return tape.tell(acked("f"));
};

/** Cancelled while a call runs and a lambda is applied: it ends when the call has, and says nothing more. */
export const cancelledFlow = (): Tape => {
  const tape = Tape.open([tool("search")]);
  const [call, lambda] = inBranch;
  tape.note(submitFlow("f", [branches()]));
  tape.tell(cancelRequest("f"), "tool.cancel f:flow:f/par[0].step[0]/0");
  tape.refuses(applied("f", lambda, "late"), "effect_unknown");
  tape.tell(settle(ref(call)), `call_completed ${call}`, "reply f");
  return tape.tell(acked("f"));
};

/** A lambda fails, and its flow with it; another's consumer is gone, and its next step ends it. */
export const failedFlow = (): Tape => {
  const tape = Tape.open([tool("search")]);
  tape.tell(submitFlow("f", [apply("label", "x")]), "flow.observe", "flow.observe", "lambda.apply");
  const failed = { status: "err", message: "no label" } as const;
  tape.tell({ type: "lambda.applied", request: "f", id: "flow:f//0", result: failed }, "flow.observe", "reply f");
  tape.tell(submitFlow("g", [apply("label", "x"), use("search", "y")]), "flow.observe", "flow.observe", "lambda.apply");
  tape.tell({ type: "flow.consumer_gone", request: "g" });
  return tape.tell(applied("g", "flow:g//0", "x"), "reply g");
};
