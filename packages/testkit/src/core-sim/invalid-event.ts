/** Invalid events, one for each rejection code. Each must be rejected with exactly that code. */
import { type Event, type RejectionCode, defaultOptions, nextDeadline } from "@pawl/sansio-core";
import { type CallRow, type CallIn, newestProtocol } from "@pawl/sansio-core/driver";
import { opening, unbuilt } from "./catalog.ts";
import type { Dice } from "./random.ts";
import { invalidBackgroundWork } from "./background.ts";
import { invalidTurns } from "./turn.ts";
import { appended, note, processId, processScopeId } from "./process.ts";
import type { SimScope } from "./scope.ts";
import type { Environment } from "./environment.ts";
import { CoreSimViolation } from "./violation.ts";

type Make = (scope: SimScope, dice: Dice) => Event | undefined;

const nothing = { hash: "h", calls: [] } as const;
const call = { id: "a", tool: "t0", args: null };

const rowIn = <P extends CallRow["phase"]>({ state }: SimScope, phase: P): CallIn<P> | undefined =>
  state.calls.rows().find((row): row is CallIn<P> => row.phase === phase);

type MakeOfRun = (row: CallIn<"running">, of: { call: string; attempt: number; run: number }) => Event | undefined;

const ofRunning =
  (make: MakeOfRun): Make =>
  (scope) => {
    const row = rowIn(scope, "running");
    if (row === undefined) return undefined;
    const { attempt, run } = row.body;
    return make(row, { call: row.call.ref, attempt, run });
  };

const isOfFirst = ({ state }: SimScope): boolean => state.scope.protocol === 1;

/** Makes what protocol 1 has no words for. */
const sinceSecond =
  (make: MakeOfRun): Make =>
  (scope, dice) =>
    isOfFirst(scope) ? undefined : ofRunning(make)(scope, dice);

const anyRequest = ({ state }: SimScope): string | undefined =>
  state.requests.rows().find((row) => row.phase === "running")?.request;

/** The bound of streams that this simulation can overrun. */
const smallStream = 100;

interface Filled {
  readonly name: string;
  readonly attempt: number;
  readonly from: number;
  readonly after?: number;
}

const groupOf = (ref: string, { name: stream, attempt, from, after }: Filled, chunks: readonly null[]): Event => ({
  type: "stream.recorded",
  call: ref,
  stream,
  attempt,
  from,
  ...(after === undefined ? {} : { after }),
  chunks,
});

/** Returns a stream that an open step of the body fills, and where it stands. */
const filledIn = ({ body }: CallIn<"running">): (Filled & { readonly run: number }) | undefined => {
  const open = body.streams.find(({ name, isDone }) => !isDone && body.open.some(({ stream }) => stream === name));
  if (open === undefined) return undefined;
  const { name, attempts, chunks: from, last, run } = open;
  return { name, attempt: attempts.length, from, run, ...(last === undefined ? {} : { after: last }) };
};

const ok = { status: "ok", value: null } as const;
const no = { code: "no", message: "no" } as const;
const step = { kind: "step", recovery: "again", input: null } as const;

const invalidEvents: { readonly [C in RejectionCode]?: Make } = {
  ...invalidBackgroundWork,
  ...invalidTurns,
  stale_epoch: ({ state, options }) => opening(state.scope.epoch, options, state.scope.protocol),
  newer_protocol: ({ state, options }) => opening(state.scope.epoch + 1, options, 99),
  needs_protocol_2: ({ state }) =>
    state.scope.protocol > 1 ? undefined : { type: "call.tool_missing", call: "of protocol 2" },
  not_an_upgrade: ({ state }) => ({ type: "scope.upgraded", to: state.scope.protocol }),
  scope_is_not_moving: () => ({ type: "scope.kept", nonce: "n" }),
  tool_conflict: ({ state }) => {
    const tool = state.catalog.byId.values()[0];
    return tool === undefined ? undefined : { type: "catalog.published", tools: [tool, tool] };
  },
  empty_id: () => ({ type: "request.submitted", request: " ", ...nothing }),
  request_conflict: (scope) => {
    const request = anyRequest(scope);
    return request === undefined ? undefined : { type: "request.submitted", request, ...nothing, hash: "other" };
  },
  request_exists: ({ state }) => {
    const row = state.requests.rows()[0];
    return row && { type: "request.submitted", request: row.request, hash: row.hash, calls: [] };
  },
  request_unknown: () => ({ type: "reply.acked", request: "nobody" }),
  call_id_conflict: () => ({ type: "request.submitted", request: "twice", hash: "h", calls: [call, call] }),
  no_reply_waits: (scope) => {
    const request = anyRequest(scope);
    return request === undefined ? undefined : { type: "reply.acked", request };
  },
  call_unknown: () => ({ type: "call.cancelled", call: "nobody" }),
  call_ended: ({ state }) => {
    const row = state.requests.rows().find((one) => one.phase === "replying" && one.turn === undefined);
    return row && { type: "request.cancelled", request: row.request };
  },
  call_is_live: ofRunning((_, of) => ({
    type: "call.settled_late",
    ...of,
    output: { outcome: { status: "success", payload: 1 } },
    duration_ms: 1,
  })),
  wrong_phase: ofRunning((_, of) => ({ type: "outcome.resolved", call: of.call, resolved: { type: "give_up" } })),
  stale_run: ofRunning((_, of) => ({ type: "call.suspended", ...of, run: of.run + 1 })),
  stale_attempt: ofRunning((_, of) => ({ type: "effect.reused", call: of.call, attempt: of.attempt + 1, key: "k" })),
  stale_try: sinceSecond(({ body }, of) => {
    const open = body.open.find(({ kind, recovery }) => kind === "step" && recovery !== "once");
    return open && { type: "step.failed", ...of, key: open.key, try: 99, error: no, retry_in_ms: 0 };
  }),
  stale_answer: sinceSecond(({ body }, { call: ref }) => {
    const open = body.open.find(({ kind }) => kind === "host" || kind === "trigger");
    return open && { type: "host.answered", call: ref, key: open.key, result: ok, seq: 0, hash: open.hash };
  }),
  effects_open: sinceSecond(({ body, cancelled }, of) => {
    const runs = body.open.some(({ kind, attempt, due, loser }) => {
      const isIdle = due !== undefined || loser === true || attempt !== of.attempt;
      return kind === "step" && !isIdle;
    });
    return runs && cancelled === undefined ? { type: "call.continued", ...of, args: null } : undefined;
  }),
  stream_unknown: sinceSecond((_, { call: ref }) => groupOf(ref, { name: "nobody", attempt: 1, from: 0 }, [])),
  stale_stream: sinceSecond((row, { call: ref }) => {
    const stream = filledIn(row);
    return stream && groupOf(ref, { ...stream, attempt: 99 }, []);
  }),
  stream_full: (scope, dice) => {
    const { max_stream_chunks: most } = scope.state.scope.options; // A scope that was upgraded may have the default.
    return most > smallStream
      ? undefined
      : sinceSecond((row, { call: ref }) => {
          const stream = filledIn(row);
          const isBegun = stream?.run === row.body.run;
          return isBegun
            ? groupOf(
                ref,
                stream,
                Array.from({ length: most + 1 }, () => null),
              )
            : undefined;
        })(scope, dice);
  },
  stale_decision: (scope) => {
    const row = rowIn(scope, "awaiting_approval");
    if (row === undefined || row.approval.edited !== undefined) return undefined;
    return { type: "approval.decided", call: row.call.ref, decision: { type: "approve" }, args_hash: "stale", by: "p" };
  },
  effect_unknown: ofRunning((_, of) => ({ type: "step.settled", ...of, key: "nobody", result: ok })),
  effect_exists: ofRunning(({ body }, of) => {
    const open = body.open[0];
    return open && { type: "effect.requested", ...of, key: open.key, hash: open.hash, effect: step };
  }),
  effect_settled: ofRunning(({ body }, of) => {
    const [key] = body.settled.keys();
    return key === undefined ? undefined : { type: "step.settled", ...of, key, result: ok };
  }),
  effect_kind_mismatch: ofRunning(({ body }, { call: ref }) => {
    const open = body.open.find(({ kind }) => kind === "step");
    return open && { type: "host.answered", call: ref, key: open.key, result: ok };
  }),
  replies_mismatch: ({ state }) => {
    const batch = state.batches.rows().find((row) => row.phase === "ended" && row.calls.length > 0);
    if (batch?.parent === undefined) return undefined;
    const { call: ref, effect: key } = batch.parent;
    return { type: "replies.recorded", call: ref, key, replies: [], triggers: [] };
  },
  not_a_waiter: ofRunning((_, of) => ({ type: "wait.cancelled", call: of.call, key: "nobody" })),
  already_resolved: ({ state }) => {
    const row = state.waits.rows().find(({ terminal, revoked }) => terminal !== undefined && !revoked);
    return row && { type: "wait.resolved", key: row.key, resolution: { status: "cancelled" } };
  },
  unknown_or_revoked: ({ state }) => {
    const row = state.waits.rows().find(({ revoked }) => revoked);
    return row && { type: "wait.resolved", key: row.key, resolution: { status: "cancelled" } };
  },
  too_many_unclaimed: ({ state }) =>
    state.unclaimed < state.scope.options.max_unclaimed || state.deletion !== undefined
      ? undefined
      : { type: "wait.resolved", key: "one too many", resolution: { status: "cancelled" } },
  owner_unknown: () => ({ type: "owner.lost", owner: "nobody" }),
  process_exists: ({ state: { process } }) =>
    process && { type: "process.registered", registration: process.registration, hash: process.hash },
  process_event_exists: ({ state: { process } }) => {
    const stored = process?.replays.entries().find(([key, { hash }]) => key.startsWith("note:") && hash !== "");
    return stored && { type: "process.event_appended", ...appended("note", "n", "n", stored[0]) };
  },
  process_unknown: ({ id }, dice) =>
    id === processScopeId ? undefined : { type: "process.event_appended", ...note(dice) },
  process_conflict: ({ state: { process } }) =>
    process && { type: "process.registered", registration: process.registration, hash: "other" },
  process_refused: ({ state: { process } }) =>
    process && { type: "process.event_appended", ...appended("unheard", null, "u") },
  link_gap: ({ state }) => {
    const row = state.links.values().find(({ incoming }) => incoming !== undefined);
    if (row?.incoming === undefined) return undefined;
    const { link, received } = row.incoming;
    const message = { type: "link.closed" } as const;
    return { type: "message.received", from: row.peer, link, number: received + 2, heard: 0, message };
  },
  link_unknown: () => ({ type: "link.retired", peer: "session:nobody" }),
  handle_refused: ({ id }) =>
    id === processScopeId
      ? undefined
      : {
          type: "handles.transferred",
          from: { session_id: "nobody" },
          to: { session_id: "s" },
          processes: [processId],
        },
  session_deleted: ({ state }) => (state.deletion === undefined ? undefined : { type: "session.deleted" }),
  message_unknown: () => ({ type: "external.cancel_acked", key: "nobody" }),
  flow_refused: () => ({
    type: "flow.submitted",
    request: "unbuilt",
    hash: "h",
    bindings: {},
    flow: { name: "F", backend: "stub", nodes: [unbuilt] },
    tools: [],
    lambdas: [],
    unresolved: "fail",
  }),
  invalid_option: () => ({ type: "scope.configured", options: { ...defaultOptions, concurrency: 0 } }),
};
const codes = Object.keys(invalidEvents) as readonly RejectionCode[];

const refusedFor = (scope: SimScope, code: RejectionCode, event: Event, at?: number): void => {
  const { state } = scope;
  const refused = scope.offer(event, at);
  const isDeleted = refused?.code === "session_deleted" && state.deletion !== undefined;
  if (refused?.code === code || isDeleted) return;
  const found = refused === undefined ? "was accepted" : `was rejected as ${refused.code}: ${refused.message}`;
  throw new CoreSimViolation("rejection", `${scope.id} ${state.seq + 1} ${event.type}: expected ${code}, it ${found}`);
};

/** Offers an invalid event. No time passes with it, so that no deadline interferes. */
export const offerInvalid = (scope: SimScope, { dice }: Environment): void => {
  const { state } = scope;
  const due = nextDeadline(state);
  if (due !== undefined && due.at <= state.at) return;
  const code = dice.pick(codes);
  const event = invalidEvents[code]?.(scope, dice);
  if (event !== undefined) refusedFor(scope, code, event, state.at);
};

/** Checks that a moving scope rejects events, and that only the move's own nonce ends it. */
export const offerInvalidWhileMoving = (scope: SimScope): void => {
  refusedFor(scope, "scope_is_moving", { type: "clock.ticked" });
  refusedFor(scope, "scope_is_moving", { type: "scope.upgraded", to: newestProtocol });
  refusedFor(scope, "nonce_mismatch", { type: "scope.kept", nonce: "other" });
};
