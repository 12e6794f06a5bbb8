/**
 * The status of a request, and of a scope, in the words that people see everywhere: sessions, the command line, hosts and
 * pages. It is read off the reasons of its live calls (`call.ts`). Where these differ, the one that somebody has to act on
 * comes first, then work, then waiting:
 *
 *   unknown  ◀  waits for a person  ◀  working  ◀  waits for the outside, an executor, time  ◀  done, failed, cancelled
 *
 * A call that only waits for others (its child calls, the rest of its batch) says nothing: they do.
 */
import { byBirth } from "../call/row.ts";
import type { CallRow } from "../call/model.ts";
import type { State } from "../kernel/vocabulary.ts";
import { type RequestRow, endOfRequest } from "../request/model.ts";
import { callReason } from "./call.ts";
import type { CallReason, EffectReason } from "./model.ts";

export type StatusWord = "working" | "waiting" | "unknown" | "done" | "failed" | "cancelled";

/** Names what ends the waiting. `model` and `budget` belong to the turns of an agent. */
export type WaitsFor = "person" | "outside" | "time" | "executor" | "model" | "budget";

export interface Status {
  readonly state: StatusWord;
  readonly waitsFor?: WaitsFor;
  /** The event since which it is so, where the state tells. */
  readonly since?: number;
  /** Scope time at which waiting ends by itself. */
  readonly until?: number;
}

type Found = Status | undefined;

const waiting = (waitsFor: WaitsFor, { since, until }: Pick<Status, "since" | "until">): Status => ({
  state: "waiting",
  waitsFor,
  ...(since === undefined ? {} : { since }),
  ...(until === undefined ? {} : { until }),
});

const working: Status = { state: "working" };

/** Lists the words by who acts next: the first that a call has is that of its request. */
const order: readonly string[] = ["unknown", "person", "working", "model", "budget", "outside", "executor", "time"];
const rankOf = ({ state, waitsFor }: Status): number => order.indexOf(state === "waiting" ? (waitsFor ?? "") : state);

/** Returns the first of several in the order of who acts next; of equals the one that is so longest. */
const firstOf = (found: readonly Found[]): Found =>
  found.reduce((best, one) => {
    if (one === undefined || best === undefined) return best ?? one;
    return rankOf(one) < rankOf(best) ? one : best;
  }, undefined);

const ofEffect = (effect: EffectReason): Found => {
  const { what } = effect;
  switch (what.kind) {
    case "step":
      return effect.until === undefined ? working : waiting("time", effect);
    case "host":
    case "trigger":
      return what.asksPerson === true ? waiting("person", effect) : working;
    case "approval":
      return waiting("person", effect);
    case "wait":
    case "message":
      return waiting("outside", effect);
    case "sleep":
      return waiting("time", effect);
    case "batch":
      return what.calls.length === 0 ? working : undefined;
    case "select":
    case "cleanup":
      return undefined;
    default:
      return working;
  }
};

/** A body that waits for nothing runs its own code; one that waits for its child calls leaves the word to them. */
const ofBody = (effects: readonly EffectReason[]): Found => {
  const asked = effects.filter(({ what }) => what.kind !== "cleanup" && what.kind !== "select");
  return asked.length === 0 ? working : firstOf(asked.map(ofEffect));
};

const ofReason = (reason: CallReason): Found => {
  const { what } = reason;
  switch (what.type) {
    case "approval":
      return waiting("person", reason);
    case "resolver":
      return { ...waiting("person", reason), state: "unknown" };
    case "completion":
      return waiting("outside", reason);
    case "executor":
    case "queue":
      return waiting("executor", reason);
    case "retry":
    case "resume_pause":
      return waiting("time", reason);
    case "body":
      return ofBody(what.effects);
    case "suspended":
      return what.link === undefined ? ofBody(what.effects) : waiting("outside", reason);
    case "turn_to_prepare":
    case "slot":
      return undefined;
    case "batch":
      return what.calls.length === 0 ? working : undefined;
    default:
      return working;
  }
};

const statusOfCall = (state: State, row: CallRow): Found => {
  const found = ofReason(callReason(state, row));
  return found && { since: row.call.born, ...found };
};

const statusOfCalls = (state: State, rows: readonly CallRow[]): Status =>
  firstOf(rows.toSorted(byBirth).map((row) => statusOfCall(state, row))) ?? working;

const callsOf = (state: State, request: string): readonly CallRow[] =>
  state.calls.rows().filter(({ call }) => call.request === request);

/** Returns what the running turn waits for. */
const ofTurn = (state: State, { request, phase, since }: NonNullable<State["conversation"]["running"]>): Status => {
  switch (phase.type) {
    case "asking":
      return waiting("model", { since });
    case "stopping":
      return waiting("model", { since, until: phase.due.at });
    case "backing_off":
      return waiting("time", { since, until: phase.due.at });
    case "unknown":
      return { ...waiting("person", { since }), state: "unknown" };
    case "parked":
      return waiting("budget", { since });
    case "calling":
      return { since, ...statusOfCalls(state, callsOf(state, request)) };
    case "loading":
    case "checking":
      return { since, ...working };
  }
};

/** Returns the status of a request that is in the state. A turn that waits waits for what the running one waits for. */
export const requestStatus = (state: State, row: RequestRow): Status => {
  if (row.phase === "replying") return { state: endOfRequest(row) };
  const { running, waiting: turns } = state.conversation;
  if (running?.request === row.request) return ofTurn(state, running);
  if (running !== undefined && turns.some(({ request }) => request === row.request))
    return { ...ofTurn(state, running), since: row.born };
  return { since: row.born, ...statusOfCalls(state, callsOf(state, row.request)) };
};

/** Returns the status of a scope: that of its live requests together, or of a process. */
export const scopeStatus = (state: State): Status => {
  const { process } = state;
  const live = state.requests.rows().filter(({ phase }) => phase === "running");
  const found = firstOf(live.map((row) => requestStatus(state, row)));
  if (found !== undefined) return found;
  if (process === undefined) return { state: "done" };
  const { state: ended } = process.status;
  if (ended !== "running") return { state: ended === "completed" ? "done" : ended };
  if (process.run === "env") return waiting("executor", {});
  return process.wait === undefined ? working : waiting("outside", {});
};
