/** Random options, tools and flows for the scopes of the core simulation. */
import { type EventOf, type Tool, defaultOptions, plainTool } from "@pawl/sansio-core";
import { type FlowNode, optionsUnder, toolsUnder } from "@pawl/sansio-core/driver";
import type { Dice } from "./random.ts";

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

/** A node of an unsupported kind, which the core rejects. */
export const unbuilt: FlowNode = { node_type: "unbuilt", kind: "remember" };

export type Options = EventOf<"scope.opened">["options"];

const backoff = { max_attempts: 3, base_delay_ms: 100, max_delay_ms: 150 };
const retries: readonly Tool["retry_policy"][] = [
  { type: "never" },
  { type: "safe", ...backoff },
  { type: "safe", max_attempts: 2, base_delay_ms: 0, max_delay_ms: 0 },
  { type: "idempotent", ...backoff },
];
const recoveries: readonly (Tool["recovery"] | undefined)[] = [
  undefined,
  "rerunnable",
  "rerunnable",
  "owner_bound",
  "externally_owned",
];

export const toolNames: readonly string[] = ["t0", "t1", "t2", "t3", "t4", "t5"];
export const toolId = (name: string): string => `tool:${name}`;

const anyTool = (dice: Dice, name: string, policy: Tool["policy"]): Tool => {
  const recovery = dice.pick(recoveries);
  const waives = policy === "requires_approval" && dice.isUnder(30) ? { waives_approval: true } : {};
  return plainTool(name, {
    availability: dice.isUnder(95) ? dice.pick(["callable", "showcased"]) : dice.pick(["off", "searchable"]),
    scheduling: dice.isUnder(75) ? "parallel" : "serial",
    retry_policy: dice.pick(retries),
    policy,
    ...waives,
    durable: dice.isUnder(60),
    hints: { readonly: dice.isUnder(10), idempotent: dice.isUnder(10) },
    ...(recovery === undefined ? {} : { recovery }),
    divergence: dice.pick(["park", "release", "fail"]),
    ...(dice.isUnder(30) ? { approval_ms: dice.pick([500, 60_000]) } : {}),
    checks: dice.isUnder(25),
    prepares: dice.isUnder(25),
    ...(name === "t5" ? { queue: name } : {}),
  });
};

/** Keeps a tool's policy: a stricter policy in mid-call is not specified. */
const policyOf = (name: string): Tool["policy"] => (name === "t1" ? "requires_approval" : "auto");

/** Tools that a scope of this protocol may have. */
export const anyTools = (dice: Dice, protocol: number): readonly Tool[] =>
  toolsUnder(
    protocol,
    toolNames.map((name) => anyTool(dice, name, policyOf(name))),
  );

export const anyOptions = (dice: Dice): Options => ({
  ...defaultOptions,
  concurrency: dice.pick([null, null, 1, 2, 3]),
  grace_ms: dice.pick([0, 50, 1000]),
  max_unclaimed: dice.pick([1, 3, 1000]),
  max_answers: dice.pick([2, 1000]),
  max_unanswered: dice.pick([1, 2, 1000]),
  max_ended_handles: dice.pick([0, 1, 1000]),
  resume_pauses_ms: dice.pick([defaultOptions.resume_pauses_ms, [], [5]]),
  crash_pauses_ms: dice.pick([defaultOptions.crash_pauses_ms, [], [5]]),
  max_crashes: dice.pick([100, 100, 3]),
  no_executor_ms: dice.pick([900_000, 1000]),
  ...dice.pick([{}, {}, { divergence_ms: 60_000 }]),
  expire_at_once: dice.pick([256, 256, 1, 2]),
  max_stream_chunks: 20,
  max_runs: dice.pick([1, 3]),
  max_run_attempts: dice.pick([1, 3]),
  max_ended_tasks: dice.pick([0, 1, 100]),
  max_schedules: dice.pick([1, 2]),
  probes: dice.isUnder(50),
  resolver: dice.isUnder(60),
  before_hook: dice.isUnder(25),
  after_hook: dice.isUnder(25),
  projection: dice.isUnder(25),
  max_waiting_turns: dice.pick([100, 1, 2]),
  stop_ms: dice.pick([0, 1000]),
  model_pauses_ms: dice.pick([defaultOptions.model_pauses_ms, [], [5]]),
  max_attempts: dice.pick([5, 1]),
  max_switches: dice.pick([16, 1]),
  keep_partial: dice.isUnder(70),
  turn_check: dice.isUnder(20),
  model_resolver: dice.isUnder(40),
  unpriced: dice.pick(["fail", "allow"]),
});

export const opening = (epoch: number, options: Options, protocol: number): EventOf<"scope.opened"> => ({
  type: "scope.opened",
  epoch,
  owner: `driver:${epoch}`,
  protocol,
  options: optionsUnder(protocol, options),
});
