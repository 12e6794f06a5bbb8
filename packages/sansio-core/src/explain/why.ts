/** Why a scope stands where it stands, and since when its calls do. */
import { byBirth } from "../call/row.ts";
import { callReason } from "./call.ts";
import type { OtherReason, Why, TurnWaits } from "./model.ts";
import { lambdasOf } from "../flow/strand.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import type { State } from "../kernel/vocabulary.ts";
import { sendingsOf } from "../link/model.ts";
import type { ScheduleRow } from "../schedule/model.ts";
import type { PhaseIn, RunningTurn } from "../turn/model.ts";

type Reason = Omit<OtherReason, "since">;

const unitsOf = (phase: PhaseIn<"asking">): number =>
  phase.call.prefix.length +
  phase.call.pieces.reduce((sum, { text = "", part }) => sum + text.length + Number(part !== undefined), 0);

/** A model that is asked, or told to stop. */
const ofModel = ({ request, agent }: RunningTurn, phase: PhaseIn<"asking" | "stopping">): TurnWaits => {
  const { n, attempt, mode, route } = phase.call;
  const { provider = "", model = "" } = agent?.routes[route] ?? {};
  const of = { request, n, attempt, mode, provider, model };
  return phase.type === "asking" ? { type: "model", ...of, units: unitsOf(phase) } : { type: "model_stop", ...of };
};

const reasonOf = (row: RunningTurn): Reason => {
  const { request, phase } = row;
  switch (phase.type) {
    case "loading":
      return { what: { type: "agent", request, agent: phase.agent }, movedBy: ["agent.published", "agent.missing"] };
    case "asking":
      return { what: ofModel(row, phase), movedBy: ["model.answered", "model.failed", "request.cancelled"] };
    case "stopping":
      return {
        what: ofModel(row, phase),
        until: phase.due.at,
        movedBy: ["model.stopped", "model.answered", "model.failed"],
      };
    case "backing_off": {
      const { call, cause, due } = phase;
      const what = { type: "model_pause", request, n: call.n, attempt: call.attempt, cause } as const;
      return { what, until: due.at, movedBy: ["request.cancelled"] };
    }
    case "unknown": {
      const { n, attempt } = phase.call;
      return { what: { type: "model_outcome", request, n, attempt }, movedBy: ["model.resolved"] };
    }
    case "calling":
      return { what: { type: "turn_calls", request, n: phase.n }, movedBy: ["request.cancelled"] };
    case "checking":
      return { what: { type: "turn_check", request, n: phase.n }, movedBy: ["turn.checked"] };
    case "parked":
      return { what: { type: "budget", request, ask: phase.ask, reached: phase.reached }, movedBy: ["budget.decided"] };
  }
};

/** One reason a live turn. */
export const turnReasons = ({ conversation: { running, waiting } }: State): readonly OtherReason[] => {
  if (running === undefined) return [];
  const queued = waiting.map(({ request, born, place }): OtherReason => {
    const what = { type: "turn_queued", request, behind: running.request, joins: place === "join" } as const;
    return { what, since: born, movedBy: ["request.cancelled"] };
  });
  return [{ ...reasonOf(running), since: running.since }, ...queued];
};

const ofRuns = ({ background: { asked, run }, process }: State): readonly OtherReason[] => {
  const permits = asked.values().map(({ run: name, born }): OtherReason => ({
    what: { type: "permit", run: name },
    since: born,
    movedBy: ["permit.answered"],
  }));
  if (run?.phase !== "finishing" || process === undefined) return permits;
  const what = { type: "artifacts", process: process.registration.id, attempt: run.attempt } as const;
  return [...permits, { what, movedBy: ["artifacts.written"] }];
};

const ofSchedule = ({ schedule: { id }, asked, due, probe }: ScheduleRow): readonly OtherReason[] => {
  const reasons: OtherReason[] = [];
  if (due !== undefined) {
    const what = { type: "schedule", schedule: id } as const;
    reasons.push({ what, since: due.birth, until: due.at, movedBy: ["schedule.cancelled"] });
  }
  if (asked !== undefined) {
    reasons.push({ what: { type: "planning", schedule: id, after: asked.after }, movedBy: ["schedule.planned"] });
  }
  if (probe !== undefined) {
    reasons.push({ what: { type: "probe", schedule: id, fire: probe }, movedBy: ["probe.answered"] });
  }
  return reasons;
};

const longReasons = (state: State): readonly OtherReason[] => [
  ...ofRuns(state),
  ...state.schedules.rows.values().flatMap(ofSchedule),
];

// Work that is no call: replies, messages, a process's own work, a move.

const ofScope = ({ scope: { status } }: State): readonly OtherReason[] => {
  switch (status.type) {
    case "open":
      return [];
    case "moving": {
      const { to, nonce } = status;
      return [{ what: { type: "move", to, nonce }, movedBy: ["scope.moved", "scope.kept"] }];
    }
    case "moved":
      return [{ what: { type: "moved" }, movedBy: [] }];
  }
};

const ofRequests = (state: State): readonly OtherReason[] =>
  state.requests
    .rows()
    .flatMap(({ phase, request }): readonly OtherReason[] =>
      phase === "replying" ? [{ what: { type: "reply", request }, movedBy: ["reply.acked"] }] : [],
    );

const ofFlows = (state: State): readonly OtherReason[] =>
  state.flows
    .values()
    .flatMap(lambdasOf)
    .map(({ born, command: { request, id, name } }) => ({
      what: { type: "lambda", request, id, name },
      since: born,
      movedBy: ["lambda.applied"],
    }));

const ofOutbox = (state: State): readonly OtherReason[] =>
  state.outbox.values().map(({ type, key, born: since }): OtherReason => {
    switch (type) {
      case "external.cancel":
        return { what: { type: "external_cancel", key }, since, movedBy: ["external.cancel_acked"] };
      case "wake.deliver":
        return { what: { type: "wake", key }, since, movedBy: ["wake.acked"] };
      case "session.tell":
        return { what: { type: "telling", key }, since, movedBy: ["session.told"] };
    }
  });

const ofLinks = (state: State): readonly OtherReason[] =>
  state.links
    .values()
    .flatMap(sendingsOf)
    .map(({ to, link, number, message, born }) => ({
      what: { type: "message", to, link, number, message: message.type },
      since: born,
      movedBy: ["message.answered"],
    }));

const ofProcess = ({ process: row }: State): readonly OtherReason[] => {
  if (row === undefined) return [];
  const { id: process, env_ref: envRef = "" } = row.registration;
  const reasons: OtherReason[] = [];
  if (row.run === "env")
    reasons.push({ what: { type: "environment", process, envRef }, movedBy: ["catalog.published"] });
  if (row.run === "engine") {
    const what = { type: "engine", process, isCancelled: row.cancelled } as const;
    reasons.push({ what, movedBy: ["process.event_appended"] });
  }
  if (row.wait !== undefined) {
    const { name, key } = row.wait.kind;
    reasons.push({ what: { type: "signal", process, name, key }, movedBy: ["process.event_appended"] });
  }
  return reasons;
};

const textOf = ({ what }: OtherReason): string => JSON.stringify(what);
const byAge = (a: OtherReason, b: OtherReason): number =>
  (a.since ?? 0) - (b.since ?? 0) || (textOf(a) < textOf(b) ? -1 : 1);

const otherReasons = (state: State): readonly OtherReason[] => [
  ...ofScope(state),
  ...[
    ...ofRequests(state),
    ...ofFlows(state),
    ...longReasons(state),
    ...ofProcess(state),
    ...turnReasons(state),
    ...ofOutbox(state),
    ...ofLinks(state),
  ].toSorted(byAge),
];

/** Explains why a scope stands where it stands: what each live call waits for, and what would move it. */
export const why = (state: State): Why => ({
  calls: state.calls
    .rows()
    .toSorted(byBirth)
    .map((row) => callReason(state, row)),
  others: otherReasons(state),
});

/** For each live call the event with which it came to its phase: kept up, transition by transition, by who folds a log. */
export type Entered = PersistentMap<string, number>;

/** Begins to note where live calls entered their phases. */
export const noneEntered: Entered = PersistentMap.empty();

/** Notes where a live call entered its phase, as an event is folded. */
export const enter = (entered: Entered, before: State, after: State): Entered =>
  after.calls.changedSince(before.calls).reduce((next, key) => {
    const row = after.calls.at(key);
    if (row === undefined) return next.delete(key);
    return row.phase === before.calls.at(key)?.phase ? next : next.set(key, after.seq);
  }, entered);
