/** The ops that run flows. */
import { type FlowExecutionEvent, FlowNodeCodec, type FlowNode } from "@pawl/sansio-core";
import { type Json, array, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Providers, Registry, type ToolEntry } from "../../src/index.ts";
import { type Case, runFlow } from "./scope.ts";

export type Input = { readonly [field: string]: Json };
export const textOf = (json: Json | undefined): string => (typeof json === "string" ? json : "");

const nodesOf = (json: Json | undefined): readonly FlowNode[] => {
  const nodes = read(array(FlowNodeCodec), json ?? []);
  if (E.isLeft(nodes)) throw new Error(describe(nodes.left));
  return nodes.right;
};

export const registryOf = (json: Json | undefined): Registry | undefined =>
  Array.isArray(json) ? new Registry(json as unknown as readonly ToolEntry[]) : undefined;

const caseOf = (input: Input, nodes: readonly FlowNode[]): Case => ({
  nodes,
  bindings: (input["bindings"] ?? {}) as Case["bindings"],
  registry: registryOf(input["registry"]),
});

const orderOf = ({ branch_path = "" }: { readonly branch_path?: string }): number =>
  Number(/(?<=^par\[)\d+/.exec(branch_path)?.[0] ?? -1);

/** Events of the branches of a block at the top, one branch after the other. */
const byBranch = (events: readonly FlowExecutionEvent[]): readonly FlowExecutionEvent[] => {
  const sorted: FlowExecutionEvent[] = [];
  let block: FlowExecutionEvent[] = [];
  const flush = (): void => {
    sorted.push(...block.toSorted((a, b) => orderOf(a as object) - orderOf(b as object)));
    block = [];
  };
  for (const event of events) {
    if (orderOf(event as object) >= 0) block.push(event);
    else {
      flush();
      sorted.push(event);
    }
  }
  return sorted;
};

const isOfStep = ({ kind }: FlowExecutionEvent): boolean => kind.startsWith("step_");

/** What each node puts out, each run on the bindings that those before it left. */
const outputsOf = async (of: Case): Promise<readonly string[]> => {
  const outputs: string[] = [];
  let { bindings } = of;
  for (const node of of.nodes) {
    const { end } = await runFlow({ ...of, nodes: [node], bindings });
    const { ending } = end;
    outputs.push(ending.type === "completed" ? ending.output : ending.type === "returned" ? ending.value : "");
    bindings = end.bindings;
  }
  return outputs;
};

const runSteps = async (input: Input): Promise<E.Either<never, unknown>> => {
  const of = caseOf(input, nodesOf(input["nodes"]));
  const { end, events } = await runFlow(of);
  const { bindings, step_counter } = end;
  const seen = { events: byBranch(events.filter(isOfStep)), bindings_include: bindings, step_counter };
  return E.right({ outputs: await outputsOf(of), ...seen });
};

const runEvents = async (input: Input): Promise<E.Either<never, unknown>> => {
  const names = { name: textOf(input["flow"]), backend: textOf(input["backend"]) };
  const { events } = await runFlow({ ...caseOf(input, nodesOf(input["nodes"])), ...names });
  return E.right({ events: byBranch(events) });
};

const loop = async (input: Input): Promise<E.Either<never, unknown>> => {
  const { variable = "", iterable = "", body = [] } = input;
  const nodes = nodesOf([{ node_type: "for_in", variable, iterable, body }]);
  const { end } = await runFlow(caseOf(input, nodes));
  const { ending, bindings: bindings_include, step_counter } = end;
  const seen = { bindings_include, step_counter };
  if (ending.type === "returned") return E.right({ outcome: "Return", value: ending.value, ...seen });
  return E.right({ outcome: "Completed", output: ending.type === "completed" ? ending.output : null, ...seen });
};

/** Before a node there is nothing to be cancelled: a lambda that nobody applies stands in front of it. */
const gate: FlowNode = { node_type: "lambda_data_apply", lambda_data_name: "gate", target: "", output_type: "" };

const cancel = { type: "request.cancelled", request: "r" } as const;

const cancelled = async (
  input: Input,
): Promise<E.Either<{ readonly code: string; readonly message: string }, unknown>> => {
  const [node] = nodesOf([input["node"] ?? null]);
  if (node === undefined) throw new Error("a case needs a node");
  const isBefore = input["cancelled"] === "before";
  const of = caseOf(input, isBefore ? [gate, node] : [node]);
  const { end, events } = await runFlow({
    ...of,
    lambdas: ["gate"],
    during: { what: isBefore ? "lambda" : "call", event: cancel },
  });
  const { ending, bindings, step_counter } = end;
  const counter = isBefore ? step_counter - 1 : step_counter;
  const seen = { events: events.filter(isOfStep).slice(isBefore ? 1 : 0), bindings, step_counter: counter };
  if (ending.type !== "failed") return E.right({ outcome: ending, ...seen });
  return E.left({ code: ending.error.type, message: ending.error.type, ...seen });
};

const crashed = async (input: Input): Promise<E.Either<never, unknown>> => {
  const stub: Providers[string] = () => () => {
    throw new Error(textOf(input["dispatch_throws"]));
  };
  const of = caseOf(input, nodesOf([input["node"] ?? null]));
  const { end, events } = await runFlow({ ...of, providers: { stub } });
  const last = events.findLast((event) => event.kind === "step_complete");
  const success = last?.kind === "step_complete" && last.success;
  return E.right({
    output: last?.kind === "step_complete" ? last.full_output : "",
    success,
    bindings_include: end.bindings,
  });
};

export const runAdapters = {
  "flow.step": runSteps,
  "flow.flow_events": runEvents,
  "flow.for_in": loop,
  "flow.cancel": cancelled,
  "flow.dispatch_crash": crashed,
};
