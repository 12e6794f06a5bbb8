/** The invariants of requests, one function each: what is broken, and in which request. */
import type { Check } from "../concern.ts";
import { requestBatch } from "../kernel/ids.ts";
import type { State } from "../kernel/state.ts";
import { type RequestRow, conflictOfIds } from "./model.ts";

const firstOf = (state: State, broken: (row: RequestRow) => string | undefined): string | undefined => {
  for (const row of state.requests.rows()) {
    const what = broken(row);
    if (what !== undefined) return `request \`${row.request}\` (${row.phase}): ${what}`;
  }
  return undefined;
};

export const checkR1: Check = (state) =>
  firstOf(state, ({ request, phase }) => {
    const batch = state.batches.at(requestBatch(request));
    const flow = state.flows.get(request);
    if (phase === "replying") {
      return batch === undefined && flow === undefined ? undefined : "R1: it has its reply, and is not over";
    }
    if (flow !== undefined) return batch === undefined ? undefined : "R1: it is a flow, and has a batch";
    if (batch === undefined) return "R1: it has no batch";
    return batch.request === request && batch.parent === undefined ? undefined : "R1: its batch is another's";
  });

const idsOf = (state: State, request: string): readonly { readonly id: string }[] => {
  const calls = state.batches.at(requestBatch(request))?.calls ?? [];
  return calls.map((ref) => ({ id: state.calls.at(ref)?.call.id ?? "" }));
};

export const checkR2: Check = (state) =>
  firstOf(state, ({ request }) => {
    const conflict = conflictOfIds(idsOf(state, request));
    return conflict === undefined ? undefined : `R2: ${conflict}`;
  });

/** Looks at a reply as it is made: afterwards the calls are gone. */
export const checkR3Change = (before: State, after: State): string | undefined =>
  firstOf(after, (row) => {
    const earlier = before.requests.at(row.request);
    if (row.phase !== "replying" || earlier?.phase !== "running" || earlier.born !== row.born) return undefined;
    const expected = idsOf(before, row.request).map(({ id }) => id);
    const found = row.replies.map(({ call_id }) => call_id);
    const isSame = found.length === expected.length && found.every((id, i) => id === expected[i]);
    return isSame ? undefined : `R3: replies to ${found.join()}, expected ${expected.join()}`;
  });

export const requestChecks: readonly Check[] = [checkR1, checkR2];
export const requestChangeChecks = [checkR3Change] as const;
