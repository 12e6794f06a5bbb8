/** A process is made, and begins to run. */
import { isObject, lift } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import { scopeOfHolder } from "../link/handle.ts";
import { processScope } from "../identity/scope.ts";
import { endProcess, write } from "./tell.ts";
import { descriptorOf } from "../message/process.ts";
import type { Limits } from "../kernel/limit.ts";
import { hasRule } from "../kernel/protocol.ts";
import type { Peer, ProcessInput, ProcessRegistration, ProcessRow } from "./model.ts";
import { type Registered, register } from "./registration.ts";

/** The scope that asks for a process, and the grant that it gives it. */
export interface Starter {
  readonly scope?: string;
  readonly limits?: Limits;
}

/** Decides whether a process may be made here, and returns it. */
export const decideRegistration = (
  draft: Draft,
  registration: ProcessRegistration,
  hash: string,
): E.Either<Rejection, Registered> => {
  const home = processScope(registration.id);
  if (draft.scope.id !== home) {
    return E.left(
      reject("process_refused", `process \`${registration.id}\` lives in \`${home}\`, not in \`${draft.scope.id}\``),
    );
  }
  const registered = register(draft.process, registration, hash, draft.at);
  const isTaken = E.isRight(registered) && !registered.right.isReplay && draft.request(registration.id) !== undefined;
  return isTaken ? E.left(reject("request_exists", `request \`${registration.id}\` is live`)) : registered;
};

type SessionTurn = Extract<ProcessInput, { readonly type: "session_turn" }>;

const withPeer = (peers: readonly Peer[], scope: string, waits: readonly string[] = []): readonly Peer[] => {
  const known = peers.find((peer) => peer.scope === scope);
  if (known === undefined) return [...peers, { scope, waits }];
  const more = waits.filter((wait) => !known.waits.includes(wait));
  return more.length === 0
    ? peers
    : peers.map((peer) => (peer === known ? { scope, waits: [...known.waits, ...more] } : peer));
};

/** A running process that will tell this scope of its end. */
export const toldTo = (row: ProcessRow, scope: string, waits?: readonly string[]): ProcessRow => ({
  ...row,
  peers: withPeer(row.peers, scope, waits),
});

/** Stops telling a scope of the end, unless that scope waits for it. */
export const untoldTo = (row: ProcessRow, scope: string): ProcessRow => ({
  ...row,
  peers: row.peers.filter((peer) => peer.scope !== scope || peer.waits.length > 0),
});

/** A session is no more: it is not told, and not woken. */
export const forgetting = (row: ProcessRow, scope: string): ProcessRow => {
  const target = row.registration.wake_target;
  const wakesNobody = row.wakesNobody || (target !== undefined && scopeOfHolder(target) === scope);
  return { ...row, wakesNobody, peers: row.peers.filter((peer) => peer.scope !== scope) };
};

const startEngine = (draft: Draft, row: ProcessRow): void => {
  draft.setProcess({ ...row, run: "engine" });
  draft.emit({ type: "engine.run", process: row.registration.id });
};

/** Its one call is prepared already: it goes by its tool's id, and under the id that it had. */
export const startCall = (draft: Draft, row: ProcessRow): void => {
  const { id, input } = row.registration;
  if (input.type !== "tool_call") return;
  const { call_id, tool_id, args, replay, prepared_payload } = input.call;
  const call = { id: call_id, tool: tool_id, by_id: true, args, prepared: prepared_payload };
  const calls = [replay === undefined ? call : { ...call, replay: { ...replay } }];
  draft.setProcess({ ...row, run: "call" });
  draft.raise({ type: "request.open", request: id, hash: row.hash, executionScope: id, calls });
};

const loadEnv = (draft: Draft, row: ProcessRow): void => {
  const { id, env_ref = "" } = row.registration;
  draft.setProcess({ ...row, run: "env" });
  draft.emit({ type: "env.load", process: id, env_ref });
};

/** Returns whether the work of a process is a turn of an agent: an engine has it where no agent is named. */
const isTurn = (draft: Draft, input: ProcessInput): input is SessionTurn => {
  if (input.type !== "session_turn" || !hasRule(draft.scope.protocol, "turns") || !draft.options.turns) return false;
  return isObject(input.create_request) && typeof input.create_request["agent"] === "string";
};

/** Begins the turn of a sub-agent, within the grant of whoever started it. */
const startTurn = (draft: Draft, row: ProcessRow, input: SessionTurn, { scope, limits }: Starter): void => {
  const grantedBy = limits === undefined || scope === undefined ? {} : { grantedBy: scope };
  draft.setProcess({ ...row, run: "turn", ...grantedBy });
  draft.raise({ type: "turn.begin", input, hash: row.hash, ...(limits === undefined ? {} : { limits }) });
};

const run = (draft: Draft, row: ProcessRow, starter: Starter): void => {
  const { input } = row.registration;
  if (isTurn(draft, input)) return startTurn(draft, row, input, starter);
  switch (input.type) {
    case "external":
      return write(
        draft,
        row,
        endProcess(row, { type: "success", value: lift({ metadata: input.metadata }) }, draft.at),
      );
    case "tool_call":
      return draft.catalog.byId.size > 0 ? startCall(draft, row) : loadEnv(draft, row);
    default:
      return startEngine(draft, row);
  }
};

/** The session that it wakes holds its handle; if it did not start it, it is told so. */
const grantToTarget = (draft: Draft, { registration }: ProcessRow): void => {
  const { wake_target: holder, id, identity } = registration;
  if (holder === undefined) return;
  const handle = { holder, process: id, descriptor: descriptorOf(registration), status: "running" } as const;
  const { definition } = identity;
  const message = { type: "handle.granted", ...handle, ...(definition === undefined ? {} : { definition }) } as const;
  draft.raise({ type: "messages.send", to: scopeOfHolder(holder), message, isLast: false });
};

/** Makes the process. Without a `starter` the host asked for it. */
export const begin = (draft: Draft, made: ProcessRow, by: Starter = {}): void => {
  const { scope: starter } = by;
  const { id, wake_target } = made.registration;
  const target = wake_target === undefined ? undefined : scopeOfHolder(wake_target);
  let row = made;
  for (const peer of [starter, target]) if (peer !== undefined) row = toldTo(row, peer);
  draft.setProcess(row);
  draft.emit({ type: "process.observe", what: "registered", process: id, sequence: 0 });
  if (target !== starter) grantToTarget(draft, row);
  draft.raise({ type: "run.begin", session: starter });
  run(draft, row, by);
};
