/** The beginning of a turn: in the current frame, with the newest version of its agent, under the limits that hold for it. */
import type { Draft } from "../kernel/draft.ts";
import { checkpoint } from "./checkpoint.ts";
import {
  append,
  change,
  conversationOf,
  dropWaiting,
  frameOf,
  inPhase,
  observe,
  put,
  putFrame,
} from "./conversation.ts";
import type { RunningTurn, WaitingTurn } from "./model.ts";

/** Takes up the agent of the turn's frame and goes on; an agent that is not published here is loaded first. */
export const enterFrame = (draft: Draft, { agent: before, ...row }: RunningTurn): void => {
  const { agents, limits } = conversationOf(draft);
  const name = frameOf(draft, row.frame).agent;
  const agent = before?.name === name ? before : agents.get(name);
  if (agent === undefined) {
    put(draft, inPhase(draft, row, { type: "loading", agent: name }));
    return draft.emit({ type: "agent.load", agent: name });
  }
  const isFirst = before === undefined && row.n === 0;
  const stand = isFirst
    ? { limits: { ...draft.options.turn_limits, ...limits.turn, ...agent.limits, ...row.own } }
    : {};
  const wanted = row.repairs ?? agent.repairs;
  const next = { ...row, ...stand, agent, ...(wanted === undefined ? {} : { repairs: wanted }) };
  return checkpoint(draft, next);
};

/** Begins a turn: its messages are the next entry of the current frame. */
export const beginTurn = (draft: Draft, waiting: WaitingTurn): void => {
  const { place: _, ...turn } = waiting;
  const { frame } = conversationOf(draft);
  const row: RunningTurn = {
    ...turn,
    phase: { type: "loading", agent: "" },
    since: draft.seq,
    startedAt: draft.at,
    parkedMs: 0,
    frame,
    n: 0,
    used: {},
    limits: {},
    route: 0,
    repaired: 0,
    cuts: 0,
    switches: 0,
    hasResults: false,
    wrapped: false,
    cancelled: false,
    triggers: [],
  };
  observe(draft, turn.request, { what: "turn_started" });
  const known = frameOf(draft, frame);
  putFrame(draft, { ...known, agent: turn.agentName ?? known.agent, entered: draft.seq });
  append(draft, row, { type: "user", seq: turn.born });
  enterFrame(draft, row);
};

/** The turn that runs next: what replaced the last one, then what was to join it, then the queue. */
const nextOf = (waiting: readonly WaitingTurn[]): WaitingTurn | undefined =>
  (["next", "join", "queue"] as const)
    .map((place) => waiting.find((one) => one.place === place))
    .find((one) => one !== undefined);

/** Begins the next turn, if none runs and one waits. */
export const beginNext = (draft: Draft): void => {
  const { running, waiting } = conversationOf(draft);
  const next = nextOf(waiting);
  if (running !== undefined || next === undefined) return;
  dropWaiting(draft, [next]);
  change(draft, { running: undefined });
  beginTurn(draft, next);
};
