/** The ops that run flows. */
import { type FlowExecutionEvent, FlowNodeCodec, type FlowNode, dispatchErrorText } from "@pawl/sansio-core/driver";
import { type CaseError, knownName, withFields } from "@pawl/testkit";
import { type Json, array, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Providers, Registry, type ToolEntry } from "../../src/index.ts";
import { byBranch } from "./order.ts";
import { type Case, Rejected, type Seen, caseProviders, runFlow } from "./scope.ts";

export type Input = { readonly [field: string]: Json };
export const textOf = (json: Json | undefined): string => (typeof json === "string" ? json : "");

/** Returns the time of a case; the epoch by default. */
export const nowMsOf = (input: Input): number => Number(input["now_unix"] ?? 0) * 1000;

const nodesOf = (json: Json | undefined): readonly FlowNode[] => {
  const nodes = read(array(FlowNodeCodec), json ?? []);
  if (E.isLeft(nodes)) throw new Rejected("bad_flow", describe(nodes.left));
  return nodes.right;
};

export const registryOf = (json: Json | undefined): Registry | undefined =>
  Array.isArray(json) ? new Registry(json as unknown as readonly ToolEntry[]) : undefined;

const caseOf = (input: Input, nodes: readonly FlowNode[]): Case => ({
  nodes,
  bindings: (input["bindings"] ?? {}) as Case["bindings"],
  registry: registryOf(input["registry"]),
  nowMs: nowMsOf(input),
  ...(knownName("word", input["unresolved"] ?? "placeholder", ["fail", "placeholder"]) === "fail"
    ? { unresolved: "fail" }
    : {}),
});

type Result = E.Either<CaseError, unknown>;

/** Returns the result of a flow's run, or the reason why the flow was refused. */
const run = (own: readonly string[], adapter: (input: Input) => Promise<Result>) =>
  withFields(["bindings", "registry", "now_unix", "unresolved", ...own], async (input: Input): Promise<Result> => {
    try {
      return await adapter(input);
    } catch (thrown) {
      if (thrown instanceof Rejected) return E.left({ code: thrown.code, message: thrown.message });
      throw thrown;
    }
  });

/** Returns the events that were seen, and the error if the flow failed. */
const unlessFailed = ({ end: { ending } }: Seen, seen: object): Result =>
  ending.type === "failed"
    ? E.left({ code: ending.error.type, message: dispatchErrorText(ending.error), ...seen })
    : E.right(seen);

const isOfStep = ({ kind }: FlowExecutionEvent): boolean => kind.startsWith("step_");

/** Returns the output of each node, run on the bindings of the nodes before it, up to one that returns. */
const outputsOf = async (of: Case): Promise<readonly string[]> => {
  const outputs: string[] = [];
  let { bindings } = of;
  for (const node of of.nodes) {
    const { end } = await runFlow({ ...of, nodes: [node], bindings });
    const { ending } = end;
    outputs.push(ending.type === "completed" ? ending.output : ending.type === "returned" ? ending.value : "");
    if (ending.type !== "completed") break;
    bindings = end.bindings;
  }
  return outputs;
};

const runSteps = async (input: Input): Promise<Result> => {
  const of = caseOf(input, nodesOf(input["nodes"]));
  const ran = await runFlow(of);
  const { bindings, step_counter } = ran.end;
  const seen = { events: byBranch(ran.events.filter(isOfStep)), bindings_include: bindings, step_counter };
  return unlessFailed(ran, { outputs: await outputsOf(of), ...seen });
};

const runEvents = async (input: Input): Promise<Result> => {
  const names = { name: textOf(input["flow"]), backend: textOf(input["backend"]) };
  const { events } = await runFlow({ ...caseOf(input, nodesOf(input["nodes"])), ...names });
  return E.right({ events: byBranch(events) });
};

const loop = async (input: Input): Promise<Result> => {
  const { variable = "", iterable = "", body = [] } = input;
  const nodes = nodesOf([{ node_type: "for_in", variable, iterable, body }]);
  const ran = await runFlow(caseOf(input, nodes));
  const { ending, bindings: bindings_include, step_counter } = ran.end;
  const seen = { bindings_include, step_counter };
  if (ending.type === "returned") return E.right({ outcome: "Return", value: ending.value, ...seen });
  return unlessFailed(ran, {
    outcome: "Completed",
    ...(ending.type === "completed" ? { output: ending.output } : {}),
    ...seen,
  });
};

/** Puts a lambda that is never answered in front of a node, so that there is something to cancel. */
const gate: FlowNode = { node_type: "lambda_data_apply", lambda_data_name: "gate", target: "", output_type: "" };

const cancel = { type: "request.cancelled", request: "r" } as const;

const cancelled = async (input: Input): Promise<Result> => {
  const [node] = nodesOf([input["node"] ?? null]);
  if (node === undefined) throw new Error("a case needs a node");
  const isBefore = knownName("word", input["cancelled"], ["before", "during_dispatch"]) === "before";
  const of = caseOf(input, isBefore ? [gate, node] : [node]);
  const ran = await runFlow({
    ...of,
    lambdas: ["gate"],
    during: { what: isBefore ? "lambda" : "call", event: cancel },
  });
  const { ending, bindings, step_counter } = ran.end;
  const counter = isBefore ? step_counter - 1 : step_counter;
  const events = ran.events.filter(isOfStep).slice(isBefore ? 1 : 0);
  return unlessFailed(ran, { outcome: ending, events, bindings, step_counter: counter });
};

/** Returns providers with the same tools that throw whenever one runs. */
const breaking = (cause: string): Providers =>
  Object.fromEntries(
    Object.entries(caseProviders).map(([name, provider]): [string, Providers[string]] => [
      name,
      (entry) =>
        provider(entry) &&
        (() => {
          throw new Error(cause);
        }),
    ]),
  );

const crashed = async (input: Input): Promise<Result> => {
  const of = caseOf(input, nodesOf([input["node"] ?? null]));
  const { end, events } = await runFlow({ ...of, providers: breaking(textOf(input["dispatch_throws"])) });
  const last = events.findLast((event) => event.kind === "step_complete");
  const success = last?.kind === "step_complete" && last.success;
  return E.right({
    output: last?.kind === "step_complete" ? last.full_output : "",
    success,
    bindings_include: end.bindings,
  });
};

export const runAdapters = {
  "flow.step": run(["nodes"], runSteps),
  "flow.flow_events": run(["flow", "backend", "nodes"], runEvents),
  "flow.for_in": run(["variable", "iterable", "body"], loop),
  "flow.cancel": run(["node", "cancelled"], cancelled),
  "flow.dispatch_crash": run(["node", "dispatch_throws"], crashed),
};
