/**
 * Requests come in, are joined or refused, cancelled, and leave with their acknowledged reply. A flow is a request too. Of their
 * invariants one function each says what is broken, and in which request.
 */
import { firstBroken, type Rejection, Invariant, reject } from "../kernel/error.ts";
import { array, oneOf, optional, string, u64 } from "@pawl/tool-value";
import type { Check, Concern } from "../concern.ts";
import { type Born, type State, requestBatch, untilAcked, type EventOf, type SignalOf } from "../kernel/vocabulary.ts";
import { Table } from "../kernel/table.ts";
import {
  type RequestCommand,
  type RequestEvent,
  type RequestRow,
  type RequestRows,
  type RequestSignal,
  conflictOfIds,
  endOfRequest,
  RequestedCallCodec,
  type Replies,
  ownExecutionScope,
  repliesOf,
} from "./model.ts";
import type { Draft } from "../kernel/draft.ts";
import type { TurnEnd } from "../turn/model.ts";
import { problemOfDeleted } from "../scope/concern.ts";

type Submitted = EventOf<"request.submitted" | "flow.submitted" | "turn.submitted">;

/** Why a request may not be submitted under this id, if so. */
export const problemOfId = (draft: Draft, { request, hash }: Submitted): Rejection | undefined => {
  if (request.trim() === "") return reject("empty_id", "a request needs an id that is not blank");
  const live = draft.request(request);
  if (live === undefined) return problemOfDeleted(draft);
  return live.hash === hash
    ? reject("request_exists", `request \`${request}\` is live: join it`)
    : reject(
        "request_conflict",
        `request \`${request}\` is live under another body: expected ${live.hash}, found ${hash}`,
      );
};

export const begin = (draft: Draft, event: Submitted): void => {
  const { request, hash, execution_scope } = event;
  const executionScope = execution_scope ?? ownExecutionScope(draft.scope.id, request);
  const row = { request, hash, born: draft.seq, executionScope, phase: "running", waits: [] } as const;
  const priority = event.type === "request.submitted" ? (event.priority ?? 0) : 0;
  draft.putRequest(priority === 0 ? row : { ...row, priority });
};

export const onSubmitted = (draft: Draft, event: EventOf<"request.submitted">): Rejection | undefined => {
  const problem = problemOfId(draft, event);
  if (problem !== undefined) return problem;
  const { request, calls } = event;
  const conflict = conflictOfIds(calls);
  if (conflict !== undefined) return reject("call_id_conflict", conflict);
  begin(draft, event);
  draft.raise({ type: "batch.create", ref: requestBatch(request), request, prefix: "", calls });
  return undefined;
};

export const onAcked = (draft: Draft, event: EventOf<"reply.acked">): Rejection | undefined => {
  const { request, born, ended = "done" } = event;
  const row = draft.request(request);
  if (row === undefined) return reject("request_unknown", `no live request \`${request}\``);
  if (row.phase !== "replying") return reject("no_reply_waits", `request \`${request}\` is still running`);
  const end = endOfRequest(row);
  if (born !== undefined && (born !== row.born || ended !== end))
    return reject(
      "no_reply_waits",
      `request \`${request}\`: expected event ${row.born} and ${end}, found ${born} and ${ended}`,
    );
  draft.dropRequest(request);
  return undefined;
};

/** Returns whether a live request is a turn: the one that runs, or one that waits. */
export const isTurn = ({ conversation: { running, waiting } }: State, request: string): boolean =>
  running?.request === request || waiting.some((turn) => turn.request === request);

export const onCancelled = (draft: Draft, { request }: EventOf<"request.cancelled">): Rejection | undefined => {
  const row = draft.request(request);
  if (row === undefined) return reject("request_unknown", `no live request \`${request}\``);
  if (row.phase !== "running") {
    if (row.turn !== undefined) return undefined;
    return reject("call_ended", `request \`${request}\` has its reply: finish won over cancel`);
  }
  if (isTurn(draft.state, request)) draft.raise({ type: "turn.cancel", request });
  else if (draft.flow(request) !== undefined) draft.raise({ type: "flow.cancel", request });
  else draft.raise({ type: "batches.cancel", batches: [requestBatch(request)] });
  return undefined;
};

const isOfProcess = ({ process: row }: Draft, request: string): boolean =>
  row?.run === "call" && row.registration.id === request;

/** A body's batch stays until its replies are on record; a request's or a step's leaves them to who waits for it. */
export const onBatchEnded = (draft: Draft, { batch }: SignalOf<"batch.ended">): void => {
  const row = draft.batch(batch);
  if (row === undefined) return; // Dropped by this event, with its body.
  if (row.turn === true) return draft.raise({ type: "turn.called", batch, request: row.request });
  const { triggers, step } = row;
  const replies = repliesOf((ref) => draft.call(ref), row);
  if (row.parent !== undefined) {
    draft.emit({ type: "replies.record", call: row.parent.call, key: row.parent.effect, replies, triggers });
    return;
  }
  draft.dropCalls(row.calls);
  draft.dropBatch(batch);
  if (step === undefined) return onRequestOver(draft, row.request, { replies, triggers });
  for (const { output } of replies)
    draft.defer({ type: "step.ended", request: row.request, id: step, output, triggers });
};

const running = (draft: Draft, request: string): Extract<RequestRow, { readonly phase: "running" }> => {
  const row = draft.request(request);
  if (row?.phase !== "running") throw new Invariant(`request ${request} is not running`);
  return row;
};

const onRequestOver = (draft: Draft, id: string, { replies, triggers }: Replies): void => {
  const { request, hash, born, executionScope, waits } = running(draft, id);
  if (waits.length > 0) draft.raise({ type: "waits.forget", request, keys: waits });
  if (isOfProcess(draft, request)) {
    draft.dropRequest(request);
    return draft.raise({ type: "run.ended", replies });
  }
  draft.putRequest({ request, hash, born, executionScope, phase: "replying", replies, triggers });
  draft.emit({ type: "reply", request, replies, triggers });
};

/** Opens the request that a process runs: nobody submitted it, and its reply is the process's end. */
export const onRequestOpen = (draft: Draft, signal: SignalOf<"request.open">): void => {
  const { request, hash, executionScope, calls } = signal;
  draft.putRequest({ request, hash, born: draft.seq, executionScope, phase: "running", waits: [] });
  draft.raise({ type: "batch.create", ref: requestBatch(request), request, prefix: "", calls });
};

/** A turn's reply says how it ended; its calls were shown one by one. */
export const replyTurn = (draft: Draft, turn: TurnEnd, triggers: Replies["triggers"]): void => {
  const { turn: request } = turn;
  const { hash, born, executionScope, waits } = running(draft, request);
  if (waits.length > 0) draft.raise({ type: "waits.forget", request, keys: waits });
  draft.putRequest({ request, hash, born, executionScope, phase: "replying", replies: [], triggers, turn });
  draft.emit({ type: "reply", request, replies: [], triggers, turn });
};

/** A flow's reply says how it ended; its steps were shown one by one. */
export const onFlowEnded = (draft: Draft, signal: SignalOf<"flow.ended">): void => {
  const { end: flow, triggers } = signal;
  const { request, hash, born, executionScope, waits } = running(draft, signal.request);
  if (waits.length > 0) draft.raise({ type: "waits.forget", request, keys: waits });
  draft.putRequest({ request, hash, born, executionScope, phase: "replying", replies: [], triggers, flow });
  draft.emit({ type: "reply", request, replies: [], triggers, flow });
};

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
export const requestChangeChecks = [checkR3Change] as const;

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
    "reply.acked": {
      fields: {
        request: string,
        born: optional(u64),
        ended: optional(oneOf<"failed" | "cancelled">("an end", "failed", "cancelled")),
      },
      fieldsSince: { born: "ended_requests", ended: "ended_requests" },
      on: onAcked,
    },
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
  rows: { requests: Table.empty() },
};
