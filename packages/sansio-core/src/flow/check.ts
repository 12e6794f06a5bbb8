/** The invariants of flows, one function each: what is broken, and in which flow. */
import type { StateCheck } from "../concern.ts";
import { type State, stepBatch } from "../kernel/vocabulary.ts";
import { type FlowRow, stepId } from "./model.ts";
import { type Standing, bodyAt, nodeAt, placeOf, strandsOf, waitingsOf } from "./strand.ts";

const firstOf = (state: State, broken: (row: FlowRow) => string | undefined): string | undefined => {
  for (const [request, row] of state.flows) {
    const what = row.request === request ? broken(row) : "F1: it stands under another name";
    if (what !== undefined) return `flow \`${request}\`: ${what}`;
  }
  return undefined;
};

const firstStrand = (state: State, broken: (at: Standing, row: FlowRow) => string | undefined): string | undefined =>
  firstOf(state, (row) => {
    for (const at of strandsOf(row)) {
      const what = broken(at, row);
      if (what !== undefined) return what;
    }
    return undefined;
  });

export const checkF1: StateCheck = (state) =>
  firstOf(state, ({ request }) =>
    state.requests.at(request)?.phase === "running" ? undefined : "F1: its request does not run",
  );

export const checkF2: StateCheck = (state) =>
  firstStrand(state, ({ strand }, { root }) => {
    const { state: standing } = strand;
    if (standing.type === "walking" || (standing.type === "over" && strand === root)) return "F2: it stands nowhere";
    if (standing.type !== "branches") return undefined;
    return standing.strands.some((one) => one.state.type !== "over") ? undefined : "F2: all its branches are over";
  });

const awaited = (state: State): ReadonlySet<string> =>
  new Set(state.flows.values().flatMap((row) => waitingsOf(row, "call").map(({ id }) => stepBatch(row.request, id))));

export const checkF3: StateCheck = (state) => {
  const refs = awaited(state);
  const steps = state.batches.rows().filter(({ step }) => step !== undefined);
  const invalid = steps.find(({ ref, request, step, calls, parent, phase }) => {
    const isItsOwn = ref === stepBatch(request, step ?? "") && calls.length === 1 && parent === undefined;
    if (phase === "ended") return true;
    return !isItsOwn || !refs.has(ref);
  });
  if (invalid !== undefined) return `batch \`${invalid.ref}\`: F3: no step of a flow waits for it`;
  return steps.length === refs.size ? undefined : `F3: ${refs.size} steps wait for ${steps.length} batches`;
};

const kinds = { call: "use_tool", lambda: "lambda_data_apply", branches: "parallel_block" } as const;

/** Returns what is wrong with a strand's place: its frames, the node it stands at, or the name it waits under. */
const misplaced = ({ ground, strand }: Standing, { request }: FlowRow): string | undefined => {
  const { state, frames } = strand;
  if (frames.length === 0 || bodyAt(ground.nodes, frames) === undefined) return "its frames lead nowhere";
  if (state.type === "over" || state.type === "walking") return undefined;
  const node = nodeAt(ground, strand);
  if (node?.node_type !== kinds[state.type]) return `it waits for a ${state.type} at ${node?.node_type ?? "no node"}`;
  if (state.type === "branches") {
    const count = node.node_type === "parallel_block" ? node.branches.length : 0;
    return state.strands.length === count ? undefined : `${state.strands.length} strands walk ${count} branches`;
  }
  const id = stepId(request, placeOf(ground, strand));
  return state.id === id ? undefined : `it waits for \`${state.id}\` at \`${id}\``;
};

/** Frames begin with what the strand is, and a turn has an item. */
const isBegun = ({ strand }: Standing, { root }: FlowRow): boolean =>
  strand.frames.every(({ part }, i) => {
    if (part.type === "turn") return i > 0 && part.index < part.items.length;
    return (i === 0) === (part.type === "flow" || part.type === "branch") && (part.type !== "flow" || strand === root);
  });

export const checkF4: StateCheck = (state) =>
  firstStrand(state, (at, row) => {
    const what = isBegun(at, row) ? misplaced(at, row) : "its frames are out of order";
    return what === undefined ? undefined : `F4: ${what}`;
  });

export const checkF5: StateCheck = (state) =>
  firstStrand(state, ({ strand }, { startedAt }) => {
    const { state: standing, counter } = strand;
    if ("step" in standing && standing.step !== counter - 1) {
      return `F5: it stands at step ${standing.step} and counts ${counter}`;
    }
    const isPast = startedAt <= state.at && (!("born" in standing) || standing.born <= state.seq);
    return isPast ? undefined : "F5: it is of the future";
  });

export const checkF6: StateCheck = (state) =>
  firstStrand(state, ({ strand }, { cancelled }) =>
    cancelled && strand.state.type === "lambda" ? "F6: it was cancelled, and waits for a lambda" : undefined,
  );

const executed = ({ root }: FlowRow): number => {
  const part = root.frames[0]?.part;
  return part?.type === "flow" ? part.executed : 0;
};

export const checkF7Change = (before: State, after: State): string | undefined =>
  firstOf(after, (row) => {
    const earlier = before.flows.get(row.request);
    const isSame = before.requests.at(row.request)?.born === after.requests.at(row.request)?.born;
    if (earlier === undefined || !isSame) return undefined;
    const isOn = row.walked >= earlier.walked && row.written >= earlier.written && executed(row) >= executed(earlier);
    return isOn && row.root.counter >= earlier.root.counter ? undefined : "F7: it has gone back";
  });

export const flowChecks: readonly StateCheck[] = [checkF1, checkF2, checkF3, checkF4, checkF5, checkF6];
export const flowChangeChecks = [checkF7Change] as const;
