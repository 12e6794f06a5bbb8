/** Each invariant of flows finds what it is about. */
import { describe, expect, it } from "vitest";
import * as flow from "../../src/flow/check.ts";
import type { FlowRow, Strand } from "../../src/flow/model.ts";
import type { FlowNode } from "../../src/flow/program.ts";
import type { State } from "../../src/kernel/vocabulary.ts";
import { Rig, tool } from "../rig.ts";

const nodes: readonly FlowNode[] = [
  {
    node_type: "for_in",
    variable: "v",
    iterable: "a,b",
    body: [{ node_type: "use_tool", tool_name: "t", argument: "v", named_args: [] }],
  },
];

/** A flow that stands at a call in a loop. */
const standing = (): State => {
  const rig = Rig.open([tool("t")]);
  const tools = [{ name: "t", id: "tool:t", parameters: [] }];
  const program = { name: "F", backend: "", nodes };
  const event = { type: "flow.submitted", request: "f", hash: "h", bindings: {}, flow: program, tools } as const;
  return rig.tell({ ...event, lambdas: [], unresolved: "placeholder" }).skip().state;
};

const withRow = (more: (row: FlowRow) => Partial<FlowRow>): State => {
  const state = standing();
  const row = state.flows.get("f") as FlowRow;
  return { ...state, flows: state.flows.set("f", { ...row, ...more(row) }) };
};
const withRoot = (more: Partial<Strand>): State => withRow(({ root }) => ({ root: { ...root, ...more } }));
const found = (check: (state: State) => string | undefined, state: State): string => check(state) ?? "nothing";

describe("the invariants of flows", () => {
  it("hold of a flow that stands at a call", () => {
    for (const check of flow.flowChecks) expect(check(standing())).toBeUndefined();
  });
  it("F1: a flow's request runs", () => {
    expect(found(flow.checkF1, { ...standing(), requests: standing().requests.delete("f") })).toContain("F1");
    expect(
      found(
        flow.checkF1,
        withRow(() => ({ request: "g" })),
      ),
    ).toContain("F1");
  });
  it("F2: a strand stands somewhere", () => {
    expect(found(flow.checkF2, withRoot({ state: { type: "walking" } }))).toContain("F2");
    expect(found(flow.checkF2, withRoot({ state: { type: "branches", step: 0, strands: [] } }))).toContain("F2");
  });
  it("F3: a call and its batch belong to each other", () => {
    expect(found(flow.checkF3, withRoot({ state: { type: "lambda", id: "x", step: 0, born: 3 } }))).toContain("F3");
    const state = standing();
    const ref = state.batches.rows()[0]?.ref ?? "";
    expect(found(flow.checkF3, { ...state, batches: state.batches.delete(ref) })).toContain("F3");
  });
  it("F4: frames lead to the node that is waited for", () => {
    const [root] = withRow(({ root: { frames } }) => ({
      root: { ...standing().flows.get("f")!.root, frames: frames.slice(0, 1) },
    })).flows.values();
    expect(
      found(
        flow.checkF4,
        withRow(() => ({ root: root!.root })),
      ),
    ).toContain("F4");
    expect(found(flow.checkF4, withRoot({ frames: [] }))).toContain("F4");
    const { state } = standing().flows.get("f")!.root;
    expect(
      found(
        flow.checkF4,
        withRoot({ state: { ...(state as { type: "call"; step: number; born: number }), id: "other" } }),
      ),
    ).toContain("F4");
  });
  it("F5: a step is counted, and was asked for in the past", () => {
    expect(found(flow.checkF5, withRoot({ counter: 7 }))).toContain("F5");
    expect(
      found(
        flow.checkF5,
        withRow(() => ({ startedAt: 5000 })),
      ),
    ).toContain("F5");
  });
  it("F6: a cancelled flow waits for no lambda", () => {
    const root = { ...standing().flows.get("f")!.root, state: { type: "lambda", id: "x", step: 0, born: 3 } as const };
    expect(
      found(
        flow.checkF6,
        withRow(() => ({ root, cancelled: true })),
      ),
    ).toContain("F6");
  });
  it("F7: a flow never goes back", () => {
    expect(flow.checkF7Change(standing(), standing())).toBeUndefined();
    expect(
      flow.checkF7Change(
        standing(),
        withRow(() => ({ walked: 0 })),
      ),
    ).toContain("F7");
    expect(flow.checkF7Change(standing(), withRoot({ counter: 0 }))).toContain("F7");
  });
});
