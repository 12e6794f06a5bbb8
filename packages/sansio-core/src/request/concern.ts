/** Requests come in, are joined or refused, and leave with their acknowledged reply. */
import { array, optional, string } from "@pawl/tool-value";
import { untilAcked } from "../kernel/duty.ts";
import { Table } from "../kernel/table.ts";
import { requestChangeChecks, requestChecks } from "./check.ts";
import { RequestedCallCodec } from "./codec.ts";
import { onAcked, onBatchEnded, onCancelled, onFlowEnded, onRequestOpen, onSubmitted } from "./step.ts";
import type { RequestCommand, RequestEvent, RequestRows, RequestSignal } from "./model.ts";
import type { Concern } from "../concern.ts";
import type { Born } from "../kernel/command.ts";
import type { State } from "../kernel/state.ts";

/** A reply is put out until it is acknowledged. */
const ofRequests = (state: State): Born[] =>
  state.requests.rows().flatMap((row) => {
    if (row.phase !== "replying") return [];
    const { request, replies, triggers, flow, born } = row;
    const reply = { type: "reply", request, replies, triggers } as const;
    return [{ born, index: -1, command: flow === undefined ? reply : { ...reply, flow } }];
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
        by: optional(string),
        traceparent: optional(string),
      },
      on: onSubmitted,
    },
    "request.cancelled": { fields: { request: string, by: optional(string) }, on: onCancelled },
    "reply.acked": { fields: { request: string }, on: onAcked },
  },
  signals: {
    "batch.ended": { raises: ["waits.forget", "run.ended"], on: onBatchEnded },
    "request.open": { raises: ["batch.create"], on: onRequestOpen },
    "flow.ended": { raises: ["waits.forget"], on: onFlowEnded },
  },
  commands: {
    reply: {
      tag: 13,
      duty: untilAcked("reply.acked"),
      digest: (lanes, command) => {
        lanes.text(command.request).replies(command);
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
