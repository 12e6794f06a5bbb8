/**
 * Reading and writing the conversation of a session: its running turn, its frames and its ledger. When a turn ends, its reply
 * says how, its usage goes to the session, and the next turn begins.
 */
import type { Due } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import type { State } from "../kernel/vocabulary.ts";
import { Invariant } from "../kernel/error.ts";
import type { AgentRow } from "./agent.ts";
import { agentTurn } from "../process/model.ts";
import { outputOfEnd } from "./agent-task.ts";
import { type Level, type Used, added, chargedOf, reservedBy } from "./budget.ts";
import { type Entry, type Frame, emptyFrame, mainAgent, withEntries } from "./frame.ts";
import {
  type Conversation,
  type ModelCall,
  type Observation,
  type Phase,
  type RunningTurn,
  type WaitingTurn,
  type Ending,
  type TurnEnd,
  maxUnheard,
} from "./model.ts";
import { replyTurn } from "../request/concern.ts";

export const conversationOf = (draft: Draft): Conversation => draft.state.conversation;

export const change = (draft: Draft, part: Partial<Conversation>): void =>
  draft.set("conversation", { ...conversationOf(draft), ...part });

export const put = (draft: Draft, row: RunningTurn): void => change(draft, { running: row });

/** The turn in a phase that it comes to now. */
export const inPhase = (draft: Draft, row: RunningTurn, phase: Phase): RunningTurn => ({
  ...row,
  phase,
  since: draft.seq,
});

export const observe = (draft: Draft, request: string, observation: Observation): void =>
  draft.emit({ type: "turn.observe", request, ...observation });

// Agents and frames.

export const agentOf = ({ agent, request }: RunningTurn): AgentRow => {
  if (agent === undefined) throw new Invariant(`turn ${request} has no agent`);
  return agent;
};

export const routeOf = (row: RunningTurn, route: number): AgentRow["routes"][number] => {
  const found = agentOf(row).routes[route];
  if (found === undefined) throw new Invariant(`agent ${agentOf(row).name} has no route ${route}`);
  return found;
};

/** The frame of a name; one that nobody has opened yet is empty. */
export const frameOf = (draft: Draft, id: string): Frame =>
  conversationOf(draft).frames.get(id) ?? emptyFrame(id, mainAgent, draft.seq);

export const putFrame = (draft: Draft, frame: Frame): void =>
  change(draft, { frames: conversationOf(draft).frames.set(frame.id, frame) });

/** Adds entries to the frame in which a turn stands. */
export const append = (draft: Draft, { frame }: RunningTurn, ...entries: readonly Entry[]): void =>
  putFrame(draft, withEntries(frameOf(draft, frame), ...entries));

// Those that wait.

export const joiners = (draft: Draft): readonly WaitingTurn[] =>
  conversationOf(draft).waiting.filter(({ place }) => place === "join");

export const dropWaiting = (draft: Draft, gone: readonly WaitingTurn[]): void =>
  change(draft, { waiting: conversationOf(draft).waiting.filter((one) => !gone.includes(one)) });

// The ledger.

const parkedAt = ({ phase, parkedMs }: RunningTurn, at: number): number =>
  parkedMs + (phase.type === "parked" ? at - phase.since : 0);

/** Sums up what a turn has used until now. Time counts, but not while it is parked. */
export const usedBy = (row: RunningTurn, at: number): Used =>
  added(row.used, { wall_ms: Math.max(0, at - row.startedAt - parkedAt(row, at)) });

/** Sums up what a session has used, its running turn included. */
export const usedInSession = ({ used, running }: Conversation, at: number): Used =>
  running === undefined ? used : added(used, usedBy(running, at));

/** The budget of the session alone. */
export const sessionLevel = (draft: Draft): Level => {
  const conversation = conversationOf(draft);
  const { limits, grants } = conversation;
  return {
    of: "session",
    limits: limits.session,
    used: usedInSession(conversation, draft.at),
    reserved: reservedBy(grants),
  };
};

export const levelsOf = (draft: Draft, row: RunningTurn): readonly Level[] => {
  const { used, limits, grants } = conversationOf(draft);
  const own = usedBy(row, draft.at);
  return [
    { of: "turn", limits: row.limits, used: own, reserved: reservedBy(grants, row.request) },
    { of: "session", limits: limits.session, used: added(used, own), reserved: reservedBy(grants) },
  ];
};

export const charged = (row: RunningTurn, more: Used): RunningTurn => ({ ...row, used: added(row.used, more) });

/** The model call of a phase that has one. */
export const callIn = (phase: Phase): ModelCall | undefined => ("call" in phase ? phase.call : undefined);

/** When the running turn has to be looked at again, if nothing else happens before. */
export const dueOfTurn = ({ conversation: { running } }: State): Due | undefined => {
  const phase = running?.phase;
  return phase?.type === "backing_off" || phase?.type === "stopping" ? phase.due : undefined;
};

/** The turn of a process is over: so is the process, and its parent is told what all of its turn has used. */
const endProcessTurn = (draft: Draft, end: TurnEnd): void => {
  const row = draft.request(agentTurn);
  const waits = row?.phase === "running" ? row.waits : [];
  if (waits.length > 0) draft.raise({ type: "waits.forget", request: agentTurn, keys: waits });
  draft.dropRequest(agentTurn);
  const { used } = conversationOf(draft);
  draft.raise({ type: "process.finish", output: outputOfEnd(end), used: chargedOf(used) });
};

const reply = (draft: Draft, end: TurnEnd, triggers: RunningTurn["triggers"]): void => {
  observe(draft, end.turn, { what: "turn_ended", end });
  if (draft.process?.run === "turn" && end.turn === agentTurn) endProcessTurn(draft, end);
  else replyTurn(draft, end, triggers);
};

export const endTurn = (draft: Draft, row: RunningTurn, ending: Ending): void => {
  const used = usedBy(row, draft.at);
  const conversation = conversationOf(draft);
  change(draft, { running: undefined, used: added(conversation.used, used) });
  reply(draft, { turn: row.request, frame: row.frame, used, ...ending }, row.triggers);
  draft.defer({ type: "turns.next" });
};

/** Ends a turn that never ran. */
export const endWaiting = (draft: Draft, { request }: WaitingTurn, ending: Ending): void =>
  reply(draft, { turn: request, frame: conversationOf(draft).frame, used: {}, ...ending }, []);

/** Keeps in mind that an attempt may still be heard of. */
export const unheard = (draft: Draft, row: RunningTurn, call: ModelCall): void => {
  const { model } = routeOf(row, call.route);
  const one = { request: row.request, n: call.n, attempt: call.attempt, model };
  change(draft, { unheard: [...conversationOf(draft).unheard, one].slice(-maxUnheard) });
};

/** A text of an end; one that is empty is none. */
export const saying = (text: string): { readonly text?: string } => (text === "" ? {} : { text });
