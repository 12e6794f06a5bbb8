/** Messages come in while a turn runs: they wait, join, interrupt or replace, as their sender says. */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { EventOf, SignalOf } from "../kernel/vocabulary.ts";
import { begin, problemOfId } from "../request/handlers.ts";
import { defaultRepairs } from "./agent.ts";
import { beginTurn } from "./begin.ts";
import { change, conversationOf, dropWaiting } from "./conversation.ts";
import { endWaiting } from "./end.ts";
import { problemOfMessages } from "./message.ts";
import type { WaitingTurn } from "./model.ts";
import { cancelTurn, interrupt } from "./stop.ts";

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
