/**
 * A turn comes in, begins and is stopped. One that comes in while another runs waits, joins, interrupts or replaces it, as its
 * sender says. A turn begins in the current frame, with the newest version of its agent, under the limits that hold for it. It is
 * stopped when it is cancelled, or interrupted by a message: what the model has said until then is kept as a cut answer.
 */
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
  joiners,
  endTurn,
  saying,
  unheard,
  endWaiting,
} from "./conversation.ts";
import type { RunningTurn, WaitingTurn, ModelCall, PhaseIn } from "./model.ts";
import { deadlineIn } from "../kernel/deadline.ts";
import { answerBatch, type EventOf, type SignalOf } from "../kernel/vocabulary.ts";
import type { Said } from "./frame.ts";
import { type Piece, assemble, textOf, problemOfMessages } from "./message.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import { begin, problemOfId } from "../request/concern.ts";
import { defaultRepairs } from "./agent.ts";

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

/** Tells an attempt to stop; it has a moment to say what it has. */
const stopAttempt = (draft: Draft, row: RunningTurn, call: ModelCall, why: "cancel" | "interrupt"): void => {
  const due = { ...deadlineIn(draft, draft.options.stop_ms), key: row.request };
  put(draft, inPhase(draft, row, { type: "stopping", call, for: why, due }));
  draft.emit({ type: "model.stop", request: row.request, n: call.n, attempt: call.attempt });
};

/** Cancels the running turn: an attempt is stopped, a batch is cancelled, and all else ends at once. */
export const cancelTurn = (draft: Draft, before: RunningTurn): void => {
  const row = { ...before, cancelled: true };
  const { phase } = row;
  switch (phase.type) {
    case "asking":
      return stopAttempt(draft, row, phase.call, "cancel");
    case "stopping":
      return put(draft, { ...row, phase: { ...phase, for: "cancel" } });
    case "calling":
      put(draft, row);
      return draft.raise({ type: "batches.cancel", batches: [answerBatch(row.request, phase.n)] });
    default:
      return endTurn(draft, row, { status: "stopped", because: "cancelled" });
  }
};

/** A message interrupts the turn: what the model says is stopped, and a pause between two attempts is given up. */
export const interrupt = (draft: Draft, row: RunningTurn): void => {
  const { phase } = row;
  if (phase.type === "asking" && phase.call.kind === "answer") stopAttempt(draft, row, phase.call, "interrupt");
  else if (phase.type === "backing_off" && phase.call.kind === "answer") checkpoint(draft, row);
};

/** The events that hold what a stopped attempt has said; undefined where it has said nothing. */
const saidBy = (call: ModelCall, own: readonly number[]): Said | undefined => {
  const seqs = [...call.streamed, ...own];
  const seq = seqs.at(-1) ?? call.prefixed.at(-1);
  if (seq === undefined) return undefined;
  if (seqs.length === 0) return { seq, prefix: call.prefixed.slice(0, -1) };
  const streamed = seqs.slice(0, -1);
  return {
    seq,
    ...(call.prefixed.length === 0 ? {} : { prefix: call.prefixed }),
    ...(streamed.length === 0 ? {} : { streamed }),
  };
};

/** A stopped attempt has ended, with these pieces in the event that says so. */
export const stopped = (draft: Draft, row: RunningTurn, phase: PhaseIn<"stopping">, pieces: readonly Piece[]): void => {
  const { call } = phase;
  const text = call.kind === "answer" ? call.prefix + textOf(assemble([...call.pieces, ...pieces])) : "";
  const said = text === "" ? undefined : saidBy(call, pieces.length === 0 ? [] : [draft.seq]);
  const isKept = draft.options.keep_partial && (phase.for === "cancel" || joiners(draft).length > 0);
  if (said !== undefined && isKept) append(draft, row, { type: "cut", ...said });
  if (phase.for === "interrupt") return checkpoint(draft, row);
  return endTurn(draft, row, { status: "stopped", because: "cancelled", ...saying(text) });
};

/** A stopped attempt has not said how it ended: what is on record is all that there is. */
export const stoppedInSilence = (draft: Draft, row: RunningTurn, phase: PhaseIn<"stopping">): void => {
  unheard(draft, row, phase.call);
  stopped(draft, row, phase, []);
};

type Submitted = EventOf<"turn.submitted">;

/** Why no more turns are taken, if so. */
const problemOfQueue = (draft: Draft, { when_busy: when, request }: Submitted): Rejection | undefined => {
  const { running, waiting } = conversationOf(draft);
  if (running === undefined) return undefined;
  if (when === "refuse")
    return reject("session_busy", `turn \`${running.request}\` runs, and \`${request}\` would not wait`);
  const most = draft.options.max_waiting_turns;
  if (waiting.length < most) return undefined;
  return reject("too_many_turns", `${waiting.length} turns wait already, expected fewer than ${most}: submit it later`);
};

const isAnswered = (messages: Submitted["messages"]): boolean => messages.at(-1)?.role === "assistant";

const problemOfTurn = ({ messages }: Submitted): Rejection | undefined => {
  const last = "the last message is the assistant's, expected one that can be answered";
  const problem = problemOfMessages(messages) ?? (isAnswered(messages) ? last : undefined);
  return problem === undefined ? undefined : reject("invalid_turn", problem);
};

const places = { queue: "queue", refuse: "queue", join: "join", interrupt: "join", replace: "next" } as const;

const waitingTurn = (draft: Draft, event: Submitted): WaitingTurn => ({
  request: event.request,
  born: draft.seq,
  place: places[event.when_busy],
  ...(event.agent === undefined ? {} : { agentName: event.agent }),
  ...(event.limits === undefined ? {} : { own: event.limits }),
  ...(event.output === undefined ? {} : { repairs: event.output.repairs ?? defaultRepairs }),
});

export const onSubmitted = (draft: Draft, event: Submitted): Rejection | undefined => {
  const problem = problemOfId(draft, event) ?? problemOfTurn(event) ?? problemOfQueue(draft, event);
  if (problem !== undefined) return problem;
  begin(draft, event);
  const turn = waitingTurn(draft, event);
  const { running, waiting } = conversationOf(draft);
  if (running === undefined) {
    beginTurn(draft, turn);
    return undefined;
  }
  change(draft, { waiting: turn.place === "next" ? [turn, ...waiting] : [...waiting, turn] });
  if (event.when_busy === "replace") cancelTurn(draft, running);
  if (event.when_busy === "interrupt") interrupt(draft, running);
  return undefined;
};

const cancelled = { status: "stopped", because: "cancelled" } as const;

/** A turn is cancelled: one that waits leaves, the one that runs stops. */
export const onCancel = (draft: Draft, { request }: SignalOf<"turn.cancel">): void => {
  const { running, waiting } = conversationOf(draft);
  if (running?.request === request && !running.cancelled) return cancelTurn(draft, running);
  const gone = waiting.filter((one) => one.request === request);
  dropWaiting(draft, gone);
  for (const one of gone) endWaiting(draft, one, cancelled);
};

/** The session is deleted: those that wait end, and the running turn is stopped. */
export const onEndAll = (draft: Draft): void => {
  const { running, waiting } = conversationOf(draft);
  change(draft, { waiting: [] });
  for (const one of waiting) endWaiting(draft, one, cancelled);
  if (running !== undefined && !running.cancelled) cancelTurn(draft, running);
};
