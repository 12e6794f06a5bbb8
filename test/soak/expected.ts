/** Calls of the kill tests' tools, with the result that each must have after any crash. */
import type { CallOfRequest } from "@pawl/runtime";
import type { ToolCallOutput } from "@pawl/tool-value";
import type { Random } from "../../packages/driver-node/test/kill/random.ts";

const tools = ["steps", "once", "keyed", "heavy", "waits", "asked", "long", "brief", "outside", "bound"] as const;
type Tool = (typeof tools)[number];
export type Called = CallOfRequest & { readonly tool: Tool; readonly args: { readonly n: number } };

export const called = (random: Random, request: string, at: number): Called => {
  const id = `c${at}`;
  return {
    label: id,
    tool: random.of(tools),
    args: { call: `${request}:${id}`, n: 1 + random.below(4) } as Called["args"],
  };
};

const times = <A>(n: number, of: (i: number) => A): readonly A[] => Array.from({ length: n }, (_, i) => of(i));

const payloadOf = ({ tool, args: { n } }: Called): unknown => {
  switch (tool) {
    case "steps":
      return times(n, (i) => [`left-${i}`, `right-${i}-slow`]);
    case "once":
      return times(n, (i) => `once-${i}-slow`);
    case "keyed":
      return times(n, (i) => `served-${i}`);
    case "heavy":
      return n * 20_000;
    case "waits":
      return ["before", "resolved", "after"];
    case "asked":
      return [n, "approved"];
    case "brief":
      return n;
    case "outside":
      return "resolved";
    case "bound":
      return "bound";
    case "long":
      return undefined;
  }
};

/** A `once` step may have an unknown outcome instead. */
export const isExpected = (call: Called, { outcome }: ToolCallOutput): boolean => {
  if (call.tool === "long") return outcome.status === "cancelled";
  const found = JSON.stringify(outcome);
  if (call.tool === "bound" && found.includes("tool_outcome_unknown")) return true;
  const known = call.tool === "once" ? found.replaceAll("unknown", "known") : found;
  const wanted = JSON.stringify({ status: "success", payload: payloadOf(call) });
  return call.tool === "once"
    ? known.replaceAll(/"known"|"once-\d+-slow"/g, "·") === wanted.replaceAll(/"once-\d+-slow"/g, "·")
    : JSON.stringify({ status: outcome.status, payload: outcome.payload }) === wanted;
};
