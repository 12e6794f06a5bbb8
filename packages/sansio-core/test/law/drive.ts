/**
 * A driver that only does its duty: it answers what `outstanding` lists, lets bodies end, and lets people, services and
 * time do their part. Whatever a scope has been through, it comes to rest under it; else something is stuck.
 */
import { successOutput } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { awaitedEffects } from "../../src/call/finish.ts";
import type { CallRow } from "../../src/call/model.ts";
import { bodyOf, byBirth } from "../../src/call/row.ts";
import type { Command, Event, State } from "../../src/kernel/vocabulary.ts";
import { ackOf } from "../../src/request/model.ts";
import { type Transition, nextDeadline, outstanding, step } from "../../src/machine.ts";
import { eventPayloadHash } from "../../src/process/hash.ts";
import { terminalKey } from "../../src/identity/scope.ts";
import { answerToLongWork } from "../arbitrary/background.ts";
import { recorded } from "../arbitrary/play.ts";

/** The answer to a command, as the duty table names it. */
const answerTo = (state: State, command: Command): Event | undefined => {
  switch (command.type) {
    case "hook.run":
      return { type: "hook.ran", call: command.call, phase: command.phase, outcome: { status: "ok", directives: [] } };
    case "place.take":
      return { type: "place.granted", call: command.call, attempt: command.attempt };
    case "args.check":
      return { type: "args.checked", call: command.call, verdict: { verdict: "valid" } };
    case "tool.prepare": {
      const { call, tool_id, args } = command;
      const preparation = { type: "prepared", tool_id, args, args_hash: "hp", payload: null } as const;
      return { type: "call.prepared", call, preparation };
    }
    case "tool.execute": {
      const { call, attempt, run, cause } = command;
      return cause === undefined ? undefined : { type: "call.resumed", call, attempt, run, cause, owner: "d9" };
    }
    case "outcome.resolve":
      return { type: "outcome.resolved", call: command.call, resolved: { type: "give_up" } };
    case "host.request": {
      const { call, key } = command;
      const row = state.calls.at(call);
      const { seq = 0, hash = "" } = (row && bodyOf(row)?.open.find((open) => open.key === key)) ?? {};
      return { type: "host.answered", call, key, result: { status: "ok", value: 1 }, seq, hash };
    }
    case "result.project":
      return { type: "result.projected", call: command.call, parts: [] };
    case "replies.record": {
      const { call, key, replies, triggers } = command;
      return { type: "replies.recorded", call, key, replies, triggers };
    }
    case "reply":
      return ackOf(state, command.request);
    case "external.cancel":
      return { type: "external.cancel_acked", key: command.key };
    case "wake.deliver":
      return { type: "wake.acked", key: command.key };
    case "send": {
      const { to, link, number } = command;
      return { type: "message.answered", to, link, number, outcome: { status: "accepted", value: null } };
    }
    case "lambda.apply":
      return {
        type: "lambda.applied",
        request: command.request,
        id: command.id,
        result: { status: "ok", output: "l" },
      };
    case "engine.run":
      return engineEnd(command.process);
    case "agent.load":
      return { type: "agent.missing", agent: command.agent };
    case "model.resolve": {
      const { request, n, attempt } = command;
      return { type: "model.resolved", request, n, attempt, outcome: { type: "give_up" } };
    }
    case "turn.check":
      return { type: "turn.checked", request: command.request, n: command.n, verdict: { type: "go_on" } };
    default:
      return answerToLongWork(command);
  }
};

const engineEnd = (process: string): Event => {
  const payload = { await_output: { type: "success", value: 1 } };
  const request = {
    event_type: "process.completed",
    payload,
    replay: { key: terminalKey(process, "process.completed") },
  };
  return {
    type: "process.event_appended",
    request,
    payload_hash: eventPayloadHash(request.event_type, payload).hash,
  };
};

/** Returns what somebody outside will do about a call in the end. */
const outsideOf = (row: CallRow): Event | undefined => {
  const call = row.call.ref;
  switch (row.phase) {
    case "awaiting_approval": {
      const { edited, argsHash } = row.approval;
      if (edited !== undefined) return undefined;
      return { type: "approval.decided", call, decision: { type: "approve" }, args_hash: argsHash, by: "p" };
    }
    case "pending":
      return { type: "wait.resolved", key: row.key, resolution: { status: "ok", payload: 1 } };
    case "unknown":
      return { type: "outcome.resolved", call, resolved: { type: "give_up" }, by: "p" };
    case "no_executor":
      return { type: "executors.available", tools: [row.body.manifest.id] };
    case "no_tool":
      return { type: "executors.available", tools: [row.manifest.id] };
    case "suspended": {
      const asked = row.body.open.find(({ approval }) => approval !== undefined);
      if (asked !== undefined) {
        const args_hash = asked.approval?.args_hash ?? "";
        return {
          type: "approval.decided",
          call: `${call}/${asked.key}`,
          decision: { type: "approve" },
          args_hash,
          by: "p",
        };
      }
      const waiting = row.body.open.find(({ wait }) => wait !== undefined)?.wait;
      if (waiting === undefined) return undefined;
      return { type: "wait.resolved", key: waiting, resolution: { status: "ok", payload: 1 } };
    }
    default:
      return undefined;
  }
};

/** The body that has waited longest for nothing but itself; children end before their parents. */
const endOfBody = (state: State, rows: readonly CallRow[]): Event | undefined => {
  const running = rows.filter((row) => row.phase === "running").toReversed();
  const row = running.find(({ body }) => body.open.every(({ kind }) => kind !== "batch")) ?? running[0];
  if (row === undefined) return undefined;
  const { attempt, run } = row.body;
  const call = row.call.ref;
  const result = { type: "done", output: successOutput("done") } as const;
  const awaited = state.scope.protocol === 1 ? [] : awaitedEffects(state, call);
  const left = awaited.length === 0 ? {} : { left: awaited };
  return { type: "call.settled", call, attempt, run, result, duration_ms: 1, ...left };
};

/** Returns what a model, or a person who is asked about a budget, does in the end. */
const endOfModel = ({ conversation: { running } }: State): Event | undefined => {
  const phase = running?.phase;
  if (running === undefined) return undefined;
  if (phase?.type === "parked") return { type: "budget.decided", ask: phase.ask, decision: "stop", by: "p" };
  if (phase?.type !== "asking" && phase?.type !== "stopping") return undefined;
  const of = { request: running.request, n: phase.call.n, attempt: phase.call.attempt };
  const pieces = [{ b: 99, type: "text", text: "done" }] as const;
  if (phase.type === "stopping") return { type: "model.stopped", ...of, pieces };
  const said = { pieces, finish: { reason: "stop" }, usage: {}, prompt: { messages: 1, hash: "0" }, ms: 1 } as const;
  return { type: "model.answered", ...of, ...said };
};

interface Next {
  readonly at: number;
  readonly event: Event;
}

const next = (state: State): Next | undefined => {
  const { at, scope } = state;
  const { status } = scope;
  if (status.type === "moving") return { at, event: { type: "scope.kept", nonce: status.nonce } };
  const due = nextDeadline(state);
  if (due !== undefined && due.at <= at) return { at, event: { type: "clock.ticked" } };
  const commands = outstanding(state);
  const owed = commands.flatMap((command) => answerTo(state, command) ?? [])[0];
  const rows = state.calls.rows().toSorted(byBirth);
  const event = owed ?? endOfBody(state, rows) ?? rows.flatMap((row) => outsideOf(row) ?? [])[0] ?? endOfModel(state);
  if (event !== undefined) return { at, event };
  return due === undefined ? undefined : { at: Math.max(at, due.at), event: { type: "clock.ticked" } };
};

export interface Driven {
  readonly state: State;
  readonly transitions: readonly Transition[];
  /** What hinders the scope from coming to rest, if anything does. */
  readonly stuck: string | undefined;
}

/** A background run that is over is over to the last: nothing stays in between. */
const isRunOver = ({ background: { run } }: State): boolean => run === undefined || run.phase === "ended";

const isAtRest = (state: State): boolean =>
  isRunOver(state) &&
  state.calls.size + state.batches.size + state.requests.size === 0 &&
  outstanding(state).length === 0;

const held = (state: State): string => {
  const calls = state.calls.rows().map(({ call, phase }) => `${call.ref} is ${phase}`);
  return [...calls, ...outstanding(state).map(({ type }) => `${type} is outstanding`)].join(", ");
};

const budget = 3000;

export const drive = (from: State): Driven => {
  const transitions: Transition[] = [];
  let state = from;
  const end = (stuck?: string): Driven => ({ state, transitions, stuck });
  for (let steps = 0; steps < budget; steps++) {
    if (isAtRest(state) || state.scope.status.type === "moved") return end();
    const wanted = next(state);
    if (wanted === undefined) return end(`nothing is owed, and yet ${held(state)}`);
    const event = recorded(wanted.event);
    const result = step(state, { seq: state.seq + 1, at: wanted.at, event });
    if (E.isLeft(result)) return end(`${event.type} is owed, and refused: ${result.left.code}: ${result.left.message}`);
    transitions.push(result.right);
    state = result.right.state;
  }
  return end(`after ${budget} events still: ${held(state)}`);
};

/** A new owner comes: the old one is lost, with all that it ran. */
export const crashed = (state: State): State => {
  const { epoch, protocol, options } = state.scope;
  const event: Event = { type: "scope.opened", epoch: epoch + 1, owner: "d9", protocol, options };
  const result = step(state, { seq: state.seq + 1, at: state.at, event });
  if (E.isLeft(result)) throw new Error(`a new owner is refused: ${result.left.message}`);
  return result.right.state;
};
