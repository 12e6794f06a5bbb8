/** Every order in which a small flow may be answered, cancelled, and lose its owner or its reader. */
import { successOutput } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { checkAll } from "../../src/check.ts";
import { checkChange } from "../../src/check-change.ts";
import { step } from "../../src/machine.ts";
import type { Event, State } from "../../src/kernel/vocabulary.ts";
import type { DispatchError } from "../../src/flow/model.ts";
import type { FlowNode } from "../../src/flow/program.ts";
import { waitingsOf } from "../../src/flow/strand.ts";
import { snapshot } from "../../src/snapshot/write.ts";
import { stateHash } from "../../src/log/hash.ts";
import { restore } from "../../src/snapshot/restore.ts";
import { crashed, drive } from "../law/drive.ts";
import { Rig, tool } from "../rig.ts";

const use = (argument: string): FlowNode => ({ node_type: "use_tool", tool_name: "t", argument, named_args: [] });
const apply: FlowNode = { node_type: "lambda_data_apply", lambda_data_name: "l", target: "v", output_type: "seen" };
const isLast = { condition: "v", comparison_op: "==", comparison_value: "b", conditions: [], conjunctor: "" };
const stop: FlowNode = { node_type: "conditional", ...isLast, then_body: [{ node_type: "break" }], else_body: [] };
const loop = (...body: readonly FlowNode[]): FlowNode => ({
  node_type: "for_in",
  variable: "v",
  iterable: "a,b,c",
  body,
});

const program = {
  name: "F",
  backend: "",
  nodes: [
    { node_type: "parallel_block", branches: [[loop(use("$v"), stop)], [apply, use("$seen")]] } as const,
    use("end"),
  ],
};

const start = (): State => {
  const tools = [{ name: "t", id: "tool:t", parameters: [] }];
  const spec = { flow: program, tools, lambdas: ["l"], unresolved: "fail" } as const;
  const rig = Rig.open([tool("t")]);
  return rig.tell({ type: "flow.submitted", request: "f", hash: "h", bindings: {}, ...spec }).skip().state;
};

/** What may still happen once: it is in the key of a state that was seen. */
interface Place {
  readonly state: State;
  readonly cancels: number;
  readonly crashes: number;
  readonly leaves: number;
}

const answers = (state: State): readonly Event[] => {
  const flow = state.flows.get("f");
  const asked = flow === undefined ? [] : waitingsOf(flow, "lambda");
  const result = { status: "ok", output: "l" } as const;
  const applied = asked.map(({ id }): Event => ({ type: "lambda.applied", request: "f", id, result }));
  const done = { type: "done", output: successOutput("out") } as const;
  return [
    ...applied,
    ...state.calls.rows().flatMap((row): readonly Event[] => {
      const call = row.call.ref;
      if (row.phase === "resuming") {
        const { attempt, run } = row.body;
        return [{ type: "call.resumed", call, attempt, run, cause: row.cause, owner: "d9" }];
      }
      if (row.phase !== "running") return [];
      const { attempt, run } = row.body;
      return [{ type: "call.settled", call, attempt, run, result: done, duration_ms: 1 }];
    }),
  ];
};

const told = (state: State, event: Event): State => {
  const result = step(state, { seq: state.seq + 1, at: state.at, event });
  if (E.isLeft(result)) throw new Error(`${event.type}: ${result.left.message}`);
  const after = result.right.state;
  const broken = checkAll(after) ?? checkChange(state, after);
  if (broken !== undefined) throw new Error(`after ${event.type}: ${broken}`);
  return after;
};

const nextOf = (place: Place): readonly Place[] => {
  const { state, cancels, crashes, leaves } = place;
  const isLive = state.flows.get("f") !== undefined;
  const next = answers(state).map((event) => ({ ...place, state: told(state, event) }));
  if (!isLive) return next;
  const cancel: Event = { type: "request.cancelled", request: "f" };
  const leave: Event = { type: "flow.consumer_gone", request: "f" };
  return [
    ...next,
    ...(cancels > 0 ? [{ ...place, state: told(state, cancel), cancels: 0 }] : []),
    ...(crashes > 0 ? [{ ...place, state: crashed(state), crashes: 0 }] : []),
    ...(leaves > 0 ? [{ ...place, state: told(state, leave), leaves: 0 }] : []),
  ];
};

const keyOf = ({ state, cancels, crashes, leaves }: Place): string =>
  `${stateHash({ ...state, seq: 0, at: 0 })} ${cancels}${crashes}${leaves}`;

/** How each way ends: `completed`, or the error. */
const endings = (): { readonly ends: ReadonlySet<string>; readonly places: number } => {
  const ends = new Set<string>();
  const seen = new Set<string>();
  const todo: Place[] = [{ state: start(), cancels: 1, crashes: 1, leaves: 1 }];
  for (let place = todo.pop(); place !== undefined; place = todo.pop()) {
    const key = keyOf(place);
    if (seen.has(key)) continue;
    seen.add(key);
    expect(E.isRight(restore(snapshot(place.state)))).toBe(true);
    expect(drive(crashed(place.state)).stuck).toBeUndefined();
    const row = place.state.requests.at("f");
    if (row?.phase === "replying" && row.flow !== undefined) ends.add(endOf(row.flow.ending));
    todo.push(...nextOf(place));
  }
  return { ends, places: seen.size };
};

const endOf = (ending: { readonly type: string; readonly error?: DispatchError; readonly output?: string }): string =>
  ending.error?.type ?? `${ending.type} ${ending.output}`;

it("a flow with a loop, a break, branches and a lambda ends in every order, cancelled and crashed wherever it is", () => {
  const { ends, places } = endings();
  expect(places).toBeGreaterThan(400);
  expect([...ends].toSorted()).toEqual(["ChannelClosed", "UpstreamCancelled", "completed out"]);
});
