/** The record of requests, and their invariants: one function each says what is broken, and in which request. */
import { firstBroken } from "../kernel/error.ts";
import { array, optional, string, u64 } from "@pawl/tool-value";
import type { Check, Concern } from "../concern.ts";
import { type Born, type State, requestBatch, untilAcked } from "../kernel/vocabulary.ts";
import { Table } from "../kernel/table.ts";
import {
  type RequestCommand,
  type RequestEvent,
  type RequestRow,
  type RequestRows,
  type RequestSignal,
  conflictOfIds,
  RequestedCallCodec,
} from "./model.ts";
import { isTurn, onAcked, onBatchEnded, onCancelled, onFlowEnded, onRequestOpen, onSubmitted } from "./handlers.ts";

const firstOf = (state: State, broken: (row: RequestRow) => string | undefined): string | undefined =>
  firstBroken(state.requests.rows(), (row) => `request \`${row.request}\` (${row.phase})`, broken);

export const checkR1: Check = (state) =>
  firstOf(state, ({ request, phase }) => {
    const batch = state.batches.at(requestBatch(request));
    const flow = state.flows.get(request);
    const isATurn = isTurn(state, request);
    if (phase === "replying") {
      return batch === undefined && flow === undefined && !isATurn
        ? undefined
        : "R1: it has its reply, and is not over";
    }
    if (isATurn) return batch === undefined && flow === undefined ? undefined : "R1: it is a turn, and more than that";
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

const requestChecks: readonly Check[] = [checkR1, checkR2];
const requestChangeChecks = [checkR3Change] as const;

/** A reply is put out until it is acknowledged. */
const ofRequests = (state: State): Born[] =>
  state.requests.rows().flatMap((row) => {
    if (row.phase !== "replying") return [];
    const { request, replies, triggers, flow, turn, born } = row;
    const ended = { ...(flow === undefined ? {} : { flow }), ...(turn === undefined ? {} : { turn }) };
    return [{ born, index: -1, command: { type: "reply", request, replies, triggers, ...ended } }];
  });

export const request: Concern<RequestRows, RequestEvent["type"], RequestSignal["type"], RequestCommand["type"]> = {
  name: "request",
  events: {
    "request.submitted": {
      fields: {
        request: string,
        hash: string,
        execution_scope: optional(string),
        calls: array(RequestedCallCodec),
        priority: optional(u64),
        by: optional(string),
        traceparent: optional(string),
      },
      fieldsSince: { priority: "queues" },
      on: onSubmitted,
    },
    "request.cancelled": { fields: { request: string, by: optional(string) }, on: onCancelled },
    "reply.acked": { fields: { request: string }, on: onAcked },
  },
  signals: {
    "batch.ended": { raises: ["waits.forget", "run.ended", "turn.called"], on: onBatchEnded },
    "request.open": { raises: ["batch.create"], on: onRequestOpen },
    "flow.ended": { raises: ["waits.forget"], on: onFlowEnded },
  },
  commands: {
    reply: {
      tag: 13,
      duty: untilAcked("reply.acked"),
      digest: (lanes, command) => {
        lanes.text(command.request).replies(command);
        if (command.turn !== undefined) return lanes.text(command.turn.status);
        return command.flow === undefined
          ? lanes
          : lanes.text(command.flow.ending.type).number(command.flow.steps_executed);
      },
    },
  },
  outstanding: ofRequests,
  checks: requestChecks,
  changes: { requests: requestChangeChecks },
  rows: { requests: Table.empty() },
};
