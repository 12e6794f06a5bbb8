/** Random acts of hosts, people and services. */
import type { Event, EventOf } from "@pawl/sansio-core";
import { lifeIn } from "./body.ts";
import { type CallRow, bodyOf, optionsUnder } from "@pawl/sansio-core/driver";
import { anyOptions, anyTools, toolId, toolNames, anyFlow } from "./catalog.ts";
import { type Dice, anyResolution } from "./random.ts";
import { endOfSchedule, backgroundWork } from "./background.ts";
import { executorsOf } from "./perform.ts";
import {
  anyHolder,
  anyRegistration,
  appended,
  cancelOfProcess,
  holderOf,
  note,
  processId,
  processScopeId,
  sessionScopes,
} from "./process.ts";
import { sharedWaits, writeArgs } from "./program.ts";
import type { SimScope } from "./scope.ts";
import type { Environment } from "./environment.ts";
import { budgetDecided, conversed, talked } from "./turn.ts";
import { anyVersions, rolledBack } from "./version.ts";

type Doing = (scope: SimScope, world: Environment) => Event | undefined;

const mostRequests = 4;

const submitted: Doing = ({ state }, { dice }) => {
  if (state.requests.size >= mostRequests) return undefined;
  if (dice.isUnder(15)) return { type: "flow.submitted", request: `f${state.seq}`, hash: "h", ...anyFlow(dice) };
  const calls = dice.list(3, (i) => {
    const by_id = dice.isUnder(20);
    const name = dice.isUnder(96) ? dice.pick(toolNames) : "missing";
    const args = writeArgs({ p: dice.below(100_000), depth: 0, anew: 0 });
    return { id: `c${i}`, tool: by_id ? toolId(name) : name, ...(by_id ? { by_id } : {}), args };
  });
  return { type: "request.submitted", request: `r${state.seq}`, hash: "h", calls };
};

const anyRow = ({ state }: SimScope, dice: Dice, isWanted: (row: CallRow) => boolean): CallRow | undefined => {
  const rows = state.calls.rows().filter(isWanted);
  return rows.length === 0 ? undefined : dice.pick(rows);
};

/** A person's word on what a body asks. */
const answered = ({ state }: SimScope, dice: Dice): Event | undefined => {
  const asked = state.calls
    .rows()
    .flatMap((row) =>
      (bodyOf(row)?.open ?? []).map(({ key, approval }) => ({ approval, call: `${row.call.ref}/${key}` })),
    )
    .filter(({ approval }) => approval !== undefined);
  if (asked.length === 0) return undefined;
  const { call, approval } = dice.pick(asked);
  const decision = dice.pick([
    { type: "approve" },
    { type: "approve_edited", args: { p: dice.below(1000) } },
    { type: "reject", reason: "not now" },
  ] as const);
  return { type: "approval.decided", call, decision, args_hash: approval?.args_hash ?? "", by: "p" };
};

const decided: Doing = (scope, { dice, isCalm }) => {
  const answer = answered(scope, dice);
  if (answer !== undefined) return answer;
  const row = anyRow(scope, dice, ({ phase }) => phase === "awaiting_approval");
  if (row?.phase !== "awaiting_approval" || row.approval.edited !== undefined) return undefined;
  const decision = isCalm
    ? ({ type: "approve" } as const)
    : dice.pick([
        { type: "approve" },
        { type: "approve" },
        { type: "approve_edited", args: { p: dice.below(1000) } },
        { type: "reject", reason: "not now" },
      ] as const);
  const isSticky = decision.type !== "approve_edited" && dice.isUnder(20);
  const sticky = isSticky ? { sticky: dice.pick(["later", "parked_too"] as const) } : {};
  return {
    type: "approval.decided",
    call: row.call.ref,
    decision,
    args_hash: row.approval.argsHash,
    by: "p",
    ...sticky,
  };
};

const waitIn = (row: CallRow): string | undefined =>
  row.phase === "pending" ? row.key : bodyOf(row)?.open.find(({ wait }) => wait !== undefined)?.wait;

/** Whose a key is, as its token says: a call's, or that of a life of it that may be over. */
const ownerOf = (scope: SimScope, dice: Dice): Pick<EventOf<"wait.resolved">, "call" | "life"> => {
  const row = anyRow(scope, dice, () => true);
  const life = row && lifeIn(scope.state, row.call.ref);
  if (row === undefined || life === undefined) return {};
  return { call: row.call.ref, ...dice.pick([{}, { life }, { life: 1 }]) };
};

const resolved: Doing = (scope, { dice, isCalm }) => {
  const row = anyRow(scope, dice, (one) => waitIn(one) !== undefined);
  const awaited = row === undefined ? undefined : waitIn(row);
  if (isCalm && awaited === undefined) return undefined;
  const key = awaited !== undefined && (isCalm || dice.isUnder(75)) ? awaited : dice.pick(sharedWaits);
  const resolution = isCalm ? ({ status: "ok", payload: 1 } as const) : anyResolution(dice);
  const whose = isCalm || dice.isUnder(60) ? {} : ownerOf(scope, dice);
  return { type: "wait.resolved", key, resolution, ...whose };
};

const executorsBack: Doing = (scope, { dice }) => {
  const row = anyRow(scope, dice, ({ phase }) => phase === "no_executor" || phase === "no_tool");
  const manifest =
    row?.phase === "no_tool" ? row.manifest : row?.phase === "no_executor" ? row.body.manifest : undefined;
  if (manifest === undefined) return undefined;
  return { type: "executors.available", tools: [manifest.id], ...anyVersions(dice, scope.state) };
};

const askedIn = (row: CallRow) => bodyOf(row)?.open.find(({ waiting }) => waiting !== undefined);

/** A person answers what a host has asked. */
const personAnswers: Doing = (scope, { dice }) => {
  const row = anyRow(scope, dice, (one) => askedIn(one) !== undefined);
  const asked = row === undefined ? undefined : askedIn(row);
  if (row === undefined || asked === undefined) return undefined;
  const { key, seq, hash } = asked;
  return { type: "host.answered", call: row.call.ref, key, result: { status: "ok", value: 1 }, seq, hash };
};

/** An executor's lease has expired. */
const executorLost: Doing = (scope) => {
  const [owner] = executorsOf(scope);
  return owner === undefined ? undefined : { type: "owner.lost", owner };
};

const callCancelled: Doing = (scope, { dice }) => {
  const row = anyRow(scope, dice, () => true);
  return row === undefined ? undefined : { type: "call.cancelled", call: row.call.ref };
};
const requestCancelled: Doing = ({ state }, { dice }) => {
  const rows = state.requests.rows();
  return rows.length === 0 ? undefined : { type: "request.cancelled", request: dice.pick(rows).request };
};
const revoked: Doing = (scope, { dice }) => {
  const row = anyRow(scope, dice, (one) => waitIn(one) !== undefined);
  const own = row === undefined ? undefined : waitIn(row);
  return { type: "wait.revoked", keys: [own ?? dice.pick(sharedWaits)] };
};
const consumerGone: Doing = ({ state }) => {
  const [request] = state.flows.keys();
  return request === undefined ? undefined : { type: "flow.consumer_gone", request };
};

const handled: Doing = ({ id, state }, { dice }) => {
  if (id === processScopeId) return undefined;
  const holder = holderOf(id);
  const to = anyHolder(dice);
  if (!state.handles.has(processId)) {
    const status = dice.isUnder(80) ? "running" : "completed";
    return { type: "handle.granted", holder, process: processId, descriptor: { kind: "tool" }, status };
  }
  return dice.isUnder(50)
    ? { type: "handles.transferred", from: holder, to, processes: [processId] }
    : { type: "handles.revoked", holder };
};

const ofProcess: Doing = ({ id, state }, { dice, processKind }) => {
  if (id !== processScopeId) return undefined;
  if (state.process === undefined)
    return dice.isUnder(50) ? { type: "process.registered", ...anyRegistration(dice, processKind) } : undefined;
  const append = dice.pick([note(dice), note(dice), note(dice), appended("signal.go", 1, "s", `s${dice.below(9)}`)]);
  return { type: "process.event_appended", ...(dice.isUnder(8) ? cancelOfProcess() : append) };
};

const linkRetired: Doing = ({ state }) => {
  const peer = state.links.values().find(({ outgoing }) => outgoing?.phase === "open")?.peer;
  return peer === undefined ? undefined : { type: "link.retired", peer };
};

const configured: Doing = (scope, { dice }) => {
  scope.options = anyOptions(dice);
  return { type: "scope.configured", options: optionsUnder(scope.state.scope.protocol, scope.options) };
};
const overridden: Doing = (_, { dice }) => ({
  type: "catalog.overridden",
  names: [dice.pick(toolNames)],
  availability: dice.pick(["off", "searchable", null, null]),
});
/** Scopes of protocol 1 know nothing of themselves. */
const described: Doing = ({ state }, { dice }) =>
  state.scope.protocol === 1 ? undefined : { type: "scope.described", title: dice.pick(["one", "two"]), tags: ["t"] };
const kept: Doing = ({ state }, { dice }) =>
  state.scope.protocol === 1
    ? undefined
    : { type: "value.kept", key: dice.pick(["a", "b"]), ...dice.pick([{}, { value: dice.below(9) }]) };
const hidden: Doing = ({ state }, { dice }) =>
  state.scope.protocol === 1
    ? undefined
    : { type: "secret.kept", name: dice.pick(["a", "b"]), ...dice.pick([{}, { digest: "d", sealed: "k1.x" }]) };
const published: Doing = ({ state }, { dice }) => ({
  type: "catalog.published",
  tools: anyTools(dice, state.scope.protocol),
  ...anyVersions(dice, state),
});
/** Other code is deployed: its versions are there instead, and its tools are those that there were. */
const deployed: Doing = ({ state }, { dice }) => ({
  type: "catalog.published",
  tools: state.catalog.byId.values(),
  ...anyVersions(dice, state),
});
const deleted: Doing = ({ id }, { dice, events }) =>
  id === sessionScopes[1] && events > 120 && dice.isUnder(30) ? { type: "session.deleted" } : undefined;
const moving: Doing = () => ({ type: "scope.moving", to: "elsewhere", nonce: "n" });

/** Weights of the acts. */
const doings: readonly (readonly [weight: number, doing: Doing])[] = [
  [30, submitted],
  [16, talked],
  [8, conversed],
  [16, decided],
  [14, resolved],
  [6, executorsBack],
  [6, personAnswers],
  [4, executorLost],
  [3, callCancelled],
  [2, requestCancelled],
  [2, revoked],
  [2, consumerGone],
  [5, handled],
  [10, ofProcess],
  [14, backgroundWork],
  [2, linkRetired],
  [1, configured],
  [1, overridden],
  [1, described],
  [2, kept],
  [1, hidden],
  [1, published],
  [2, deployed],
  [1, deleted],
  [1, moving],
];
const all = doings.reduce((sum, [weight]) => sum + weight, 0);

const anyDoing = (dice: Dice): Doing => {
  let left = dice.below(all);
  for (const [weight, doing] of doings) {
    left -= weight;
    if (left < 0) return doing;
  }
  return submitted;
};

export const interfere = (scope: SimScope, world: Environment): boolean => {
  const event = anyDoing(world.dice)(scope, world) ?? submitted(scope, world);
  return event !== undefined && scope.offer(event) === undefined;
};

const forsaken: Doing = (scope) => {
  const row = scope.state.calls.rows().find(({ phase, call }) => phase === "running" && !scope.bodies.has(call.ref));
  return row?.phase === "running" ? { type: "owner.lost", owner: row.owner } : undefined;
};

/** A person gives up on a call whose outcome nobody knows. */
const givenUp: Doing = (scope) => {
  const row = scope.state.calls.rows().find(({ phase }) => phase === "unknown");
  return row && { type: "outcome.resolved", call: row.call.ref, resolved: { type: "give_up" } };
};

/** Does what a scope is waiting for, so that the simulation comes to rest. */
export const help = (scope: SimScope, world: Environment): boolean =>
  [decided, resolved, executorsBack, personAnswers, endOfSchedule, forsaken, rolledBack, givenUp, budgetDecided].some(
    (doing) => {
      const event = doing(scope, world);
      return event !== undefined && scope.offer(event) === undefined;
    },
  );
