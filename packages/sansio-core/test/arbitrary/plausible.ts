/** The events that a host, its tools and its driver would send in a state. */
import { queuedAttempt } from "../../src/call/row.ts";
import type { CallIn, CallPhase, CallRow } from "../../src/call/model.ts";
import type { Directive, Resolved } from "../../src/call/vocabulary.ts";
import type { Versions } from "../../src/scope/model.ts";
import { hasRule, newestProtocol } from "../../src/kernel/protocol.ts";
import type { Event, EventOf, State } from "../../src/kernel/vocabulary.ts";
import { inVersion, decides, ofRunning, waitKeys } from "./body.ts";
import { ofLongWork } from "./background.ts";
import type { Dice } from "./dice.ts";
import { anySubmission, ofFlows } from "./flow.ts";
import { anyJson, anyOutput, anyResolution, anyResult } from "./value.ts";
import { ofTurns } from "./turn.ts";
import { anyOptions, toolNames } from "./world.ts";

const directives = (dice: Dice): readonly Directive[] =>
  dice.list(3, () =>
    dice.pick<Directive>([
      { kind: "replace_tool_args", args: { replaced: true } },
      { kind: "short_circuit_tool", output: anyOutput(dice) },
      { kind: "abort_turn", code: "stop", message: "stop" },
      { kind: "create_session" },
      { kind: "create_session", error: "no session" },
      { kind: "enqueue_messages" },
      { kind: "enqueue_messages", error: "no queue" },
      { kind: "emit_runtime_events" },
      { kind: "emit_trace", error: "no trace" },
    ]),
  );

const hook = (dice: Dice, call: string, phase: "before" | "after"): Event => ({
  type: "hook.ran",
  call,
  phase,
  outcome: dice.isUnder(85) ? { status: "ok", directives: directives(dice) } : { status: "err", message: "broken" },
});

const checked = (dice: Dice, call: string): Event => ({
  type: "args.checked",
  call,
  args_hash: "ha",
  verdict: dice.isUnder(75)
    ? { verdict: "valid" }
    : dice.pick([{ verdict: "invalid", message: "$.a: wanted" }, { verdict: "no_contract" }]),
});

const ofAbsent = (dice: Dice, row: CallIn<"no_tool">): Event =>
  row.due === undefined && row.waits !== "launch"
    ? ofPreparing(dice, { ...row, phase: "preparing", waits: row.waits })
    : { type: "executors.available", tools: [row.manifest.id] };

const ofPreparing = (dice: Dice, { call, waits, manifest, args }: CallIn<"preparing">): Event => {
  if (waits === "hook") return hook(dice, call.ref, "before");
  if (dice.isUnder(10)) return { type: "call.tool_missing", call: call.ref };
  if (waits === "args") return checked(dice, call.ref);
  const tool_id = dice.isUnder(92) ? manifest.id : "tool:other";
  const waiver = manifest.waives_approval === true && dice.isUnder(50) ? ({ approval: "waived" } as const) : {};
  const prepared = { type: "prepared", tool_id, args, args_hash: "ha", payload: anyJson(dice), ...waiver } as const;
  const preparation = dice.isUnder(85) ? prepared : ({ type: "finished", output: anyOutput(dice) } as const);
  return { type: "call.prepared", call: call.ref, preparation };
};

const ofParked = (dice: Dice, { call, approval }: CallIn<"awaiting_approval">): Event => {
  if (approval.edited !== undefined && dice.isUnder(80)) return checked(dice, call.ref);
  const decision = dice.pick([
    { type: "approve" },
    { type: "approve" },
    { type: "approve_edited", args: { edited: true } },
    { type: "reject", reason: "not now" },
  ] as const);
  const sticky = dice.maybe(25, () => dice.pick(["later", "parked_too"] as const));
  const args_hash = dice.isUnder(90) ? approval.argsHash : "stale";
  const decided = { type: "approval.decided", call: call.ref, decision, args_hash, by: "p" } as const;
  return sticky === undefined ? decided : { ...decided, sticky };
};

const ofUnknown = (dice: Dice, { scope, catalog }: State, { call }: CallIn<"unknown">): Event => {
  const isNew = hasRule(scope.protocol, "parked_divergence");
  if (isNew && dice.isUnder(40))
    return { type: "catalog.published", tools: catalog.byId.values(), versions: anyVersions(dice) };
  return { type: "outcome.resolved", call: call.ref, resolved: anyResolved(dice, isNew) };
};

/** Versions of the tools' code; now and then nobody runs one of them. */
const anyVersions = (dice: Dice): Versions =>
  dice.pick([{ "*": "v1" }, { "*": "v2" }, { "*": "v1", "tool:durable": "v2" }, { "*": "v2", "tool:durable": null }]);

const anyResolved = (dice: Dice, isNew: boolean): Resolved =>
  dice.pick([
    { type: "run_again" },
    ...(isNew ? [{ type: "release" } as const] : []),
    { type: "run_again" },
    { type: "verified", output: anyOutput(dice) },
    { type: "give_up" },
  ] as const);

const ofResuming = (dice: Dice, state: State, { call, cause, body: { attempt, run } }: CallIn<"resuming">): Event =>
  dice.isUnder(90)
    ? { type: "call.resumed", call: call.ref, attempt, run, cause, owner: "d2", ...inVersion(dice, state) }
    : { type: "call.executor_missing", call: call.ref, attempt, run };

/** Nothing can be done but wait: for what it waits for, or for time. */
const ofSuspended = (dice: Dice, { call, body }: CallIn<"suspended">): Event => {
  const asked = body.open.find(({ waiting }) => waiting !== undefined);
  if (asked !== undefined && dice.isUnder(50))
    return { type: "host.answered", call: call.ref, key: asked.key, result: anyResult(dice) };
  const question = body.open.find(({ approval }) => approval !== undefined);
  if (question !== undefined && dice.isUnder(50)) return decides(dice, call.ref, question.key);
  const waited = body.open.flatMap(({ wait }) => wait ?? []);
  if (waited.length === 0 || dice.isUnder(30)) return { type: "clock.ticked" };
  return { type: "wait.resolved", key: dice.pick(waited), resolution: anyResolution(dice) };
};

const late = (dice: Dice, call: string): Event => ({
  type: "call.settled_late",
  call,
  attempt: 1,
  run: 1,
  output: anyOutput(dice),
  duration_ms: 1,
});

/** The next thing that happens to a call. */
const ofCall = (dice: Dice, state: State, row: CallRow): Event => {
  const { ref } = row.call;
  if (dice.isUnder(2)) return { type: "call.cancelled", call: ref };
  switch (row.phase) {
    case "preparing":
      return ofPreparing(dice, row);
    case "no_tool":
      return ofAbsent(dice, row);
    case "awaiting_approval":
      return ofParked(dice, row);
    case "running":
      return ofRunning(dice, state, row);
    case "resuming":
      return ofResuming(dice, state, row);
    case "suspended":
      return ofSuspended(dice, row);
    case "queued":
    case "backing_off":
      return { type: "place.granted", call: ref, attempt: dice.isUnder(90) ? (queuedAttempt(row) ?? 1) : 9 };
    case "no_executor":
      return { type: "executors.available", tools: [row.body.manifest.id] };
    case "unknown":
      return ofUnknown(dice, state, row);
    case "pending":
      return dice.isUnder(75)
        ? { type: "wait.resolved", key: row.key, resolution: anyResolution(dice), by: "p" }
        : { type: "wait.revoked", keys: [row.key, dice.pick(waitKeys)] };
    case "finishing":
      return row.waits === "hook"
        ? hook(dice, ref, "after")
        : { type: "result.projected", call: ref, parts: anyJson(dice) };
    default:
      return late(dice, ref);
  }
};

const submitted = (dice: Dice, state: State): Event =>
  dice.isUnder(30)
    ? { type: "flow.submitted", request: `f${state.seq}`, hash: "h", ...anySubmission(dice) }
    : submittedCalls(dice, state);

const submittedCalls = (dice: Dice, state: State): Event => ({
  type: "request.submitted",
  request: `r${state.seq}`,
  hash: "h",
  ...(dice.isUnder(20) ? { execution_scope: "turn:1" } : {}),
  ...(hasRule(state.scope.protocol, "queues") && state.seq % 7 === 0 ? { priority: 2 } : {}),
  calls: dice.list(4, (i) => {
    const by_id = dice.isUnder(20);
    const name = dice.isUnder(95) ? dice.pick(toolNames) : "missing";
    return {
      id: `c${i}`,
      tool: by_id ? `tool:${name}` : name,
      ...(by_id ? { by_id } : {}),
      args: anyJson(dice),
      ...(dice.isUnder(10) ? { replay: { item_id: "i" } } : {}),
    };
  }),
});

const opened = (dice: Dice, { scope }: State): Event => ({
  type: "scope.opened",
  epoch: scope.epoch + 1 + dice.below(2),
  owner: dice.pick(["d1", "d2", "d3"]),
  protocol: scope.protocol,
  options: dice.isUnder(80) ? scope.options : anyOptions(dice, scope.protocol),
  ...(hasRule(scope.protocol, "crash_loops") ? dice.pick([{}, { last_owner: "lost" }, released] as const) : {}),
  ...(hasRule(scope.protocol, "parked_divergence") && dice.isUnder(70) ? { versions: anyVersions(dice) } : {}),
});
const released = { last_owner: "released" } as const;

const ofRequest = (dice: Dice, state: State): Event => {
  const rows = state.requests.rows();
  if (rows.length === 0) return submitted(dice, state);
  const { request, phase } = dice.pick(rows);
  if (phase === "replying") return { type: "reply.acked", request };
  return dice.isUnder(40) ? { type: "request.cancelled", request } : { type: "clock.ticked" };
};

/** Its driver raises its protocol, and says which calls have continued. */
const upgraded = (dice: Dice, state: State): Event => {
  if (state.scope.protocol === newestProtocol) return { type: "clock.ticked" };
  const rows = state.calls.rows().filter(() => dice.isUnder(30));
  return {
    type: "scope.upgraded",
    to: newestProtocol,
    continued: rows.map(({ call }) => ({ call: call.ref, args_hash: dice.pick(["ha", "hb"]) })),
  };
};

/** Whose own a key is, as its token says: a call's, or that of a life, which may be over. */
const ownOf = (dice: Dice, state: State): Pick<EventOf<"wait.resolved">, "call" | "life"> => {
  const rows = state.calls.rows();
  if (!hasRule(state.scope.protocol, "lives") || rows.length === 0 || dice.isUnder(50)) return {};
  const { call } = dice.pick(rows);
  return { call: call.ref, ...(dice.isUnder(70) ? { life: 1 + dice.below(2) } : {}) };
};

const went = (dice: Dice, { scope }: State): Pick<EventOf<"owner.lost">, "went"> =>
  hasRule(scope.protocol, "crash_loops") && dice.isUnder(30) ? { went: "released" } : {};

/** Returns what happens to a scope as a whole. */
const ofScope = (dice: Dice, state: State): Event => {
  switch (dice.below(12)) {
    case 0:
    case 1:
      return opened(dice, state);
    case 2:
      return { type: "owner.lost", owner: dice.pick(["d1", "worker:1", "executor:x"]), ...went(dice, state) };
    case 3:
      return { type: "scope.configured", options: anyOptions(dice, state.scope.protocol) };
    case 4:
      return { type: "catalog.overridden", names: [dice.pick(toolNames)], availability: dice.pick(["off", null]) };
    case 5:
      return { type: "wait.revoked", keys: [dice.pick(waitKeys)] };
    case 6:
    case 7:
      return {
        type: "wait.resolved",
        key: dice.pick(waitKeys),
        resolution: anyResolution(dice),
        ...ownOf(dice, state),
      };
    case 8: {
      const keys = state.outbox.keys();
      return keys.length === 0 ? { type: "clock.ticked" } : { type: "external.cancel_acked", key: dice.pick(keys) };
    }
    case 10:
      return upgraded(dice, state);
    case 9:
      return dice.isUnder(30) ? { type: "scope.moving", to: "elsewhere", nonce: "n" } : { type: "clock.ticked" };
    default:
      return { type: "clock.ticked" };
  }
};

const ofMoving = (dice: Dice, state: State): Event => {
  const { epoch } = state.scope;
  return dice.pick<Event>([
    { type: "scope.kept", nonce: "n" },
    { type: "scope.kept", nonce: "n" },
    { type: "scope.received", nonce: "n", epoch: epoch + 1, owner: "d4" },
    { type: "scope.received", nonce: "n", epoch: epoch + 1, owner: "d4" },
    opened(dice, state),
    { type: "scope.moving", to: "elsewhere", nonce: "m" },
  ]);
};

/** In these phases nothing can happen to a call but what happens to its batch. */
const idle: ReadonlySet<CallPhase> = new Set(["requested", "ready", "completed"]);

/** Live calls are looked at more often than those that only wait for the end of their batch. */
const anyCall = (dice: Dice, state: State): CallRow | undefined => {
  const rows = state.calls.rows();
  const live = rows.filter(({ phase }) => !idle.has(phase));
  if (live.length > 0 && dice.isUnder(97)) return dice.pick(live);
  return rows.length === 0 ? undefined : dice.pick(rows);
};

export const plausible = (dice: Dice, state: State): Event => {
  if (state.scope.status.type === "moving") return ofMoving(dice, state);
  const flow = state.flows.size > 0 && dice.isUnder(30) ? ofFlows(dice, state) : undefined;
  if (flow !== undefined) return flow;
  if (hasRule(state.scope.protocol, "turns") && dice.isUnder(25)) return ofTurns(dice, state);
  const roll = dice.below(100);
  if (dice.isUnder(12)) return ofLongWork(dice, state);
  const row = anyCall(dice, state);
  if (row !== undefined && roll < 82) return ofCall(dice, state, row);
  if (roll < 86 || row === undefined) return state.requests.size < 3 ? submitted(dice, state) : ofRequest(dice, state);
  return roll < 89 ? ofRequest(dice, state) : ofScope(dice, state);
};
