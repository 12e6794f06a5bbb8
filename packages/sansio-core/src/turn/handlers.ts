/** Takes what hosts and people say of a conversation. Each handler looks up, refuses, and only then goes on. */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { EventOf } from "../kernel/vocabulary.ts";
import { problemOfDeleted } from "../scope/concern.ts";
import { agentRow } from "./agent.ts";
import { enterFrame } from "./turn.ts";
import type { Amounts } from "../kernel/limit.ts";
import { raised } from "./budget.ts";
import { afterCheck, askAgain, checkpoint, conclude } from "./checkpoint.ts";
import {
  append,
  callIn,
  change,
  conversationOf,
  frameOf,
  joiners,
  levelsOf,
  observe,
  putFrame,
  endTurn,
} from "./conversation.ts";
import { raiseGrant } from "./sub-agent.ts";
import { emptyFrame, mainAgent, withEntries } from "./frame.ts";
import { problemOfMessages } from "./message.ts";
import type { PhaseIn, RunningTurn } from "./model.ts";

export const onPublished = (draft: Draft, { agent, hash, spec }: EventOf<"agent.published">): Rejection | undefined => {
  if (spec.routes.length === 0)
    return reject("invalid_turn", `agent \`${agent}\` has no routes, expected at least one`);
  const { agents, running } = conversationOf(draft);
  if (agents.get(agent)?.hash !== hash)
    change(draft, { agents: agents.set(agent, agentRow(agent, draft.seq, hash, spec)) });
  if (running?.phase.type === "loading" && running.phase.agent === agent) enterFrame(draft, running);
  return undefined;
};

export const onMissing = (draft: Draft, { agent }: EventOf<"agent.missing">): Rejection | undefined => {
  const { running } = conversationOf(draft);
  if (running?.phase.type !== "loading" || running.phase.agent !== agent)
    return reject("wrong_phase", `nobody waits for agent \`${agent}\``);
  const message = `no agent \`${agent}\` is published here`;
  endTurn(draft, running, { status: "failed", code: "agent_unknown", message });
  return undefined;
};

export const onPrices = (draft: Draft, { prices }: EventOf<"prices.published">): undefined => {
  const all = Object.entries(prices).reduce(
    (some, [model, price]) => some.set(model, price),
    conversationOf(draft).prices,
  );
  change(draft, { prices: all });
};

export const onLimits = (draft: Draft, { limits }: EventOf<"limits.set">): undefined => {
  const before = conversationOf(draft).limits;
  change(draft, { limits: { turn: limits.turn ?? before.turn, session: limits.session ?? before.session } });
};

export const onFrameOpened = (draft: Draft, event: EventOf<"frame.opened">): Rejection | undefined => {
  const { running, frames } = conversationOf(draft);
  const { frame: id, agent, messages, current } = event;
  if (running !== undefined)
    return reject("frame_in_use", `turn \`${running.request}\` runs: open frames when it is over`);
  const problem = problemOfDeleted(draft) ?? problemOfHistory(id, messages);
  if (problem !== undefined) return problem;
  const known = frames.get(id) ?? emptyFrame(id, agent ?? mainAgent, draft.seq);
  const frame = { ...known, agent: agent ?? known.agent, entered: draft.seq };
  putFrame(draft, messages.length === 0 ? frame : withEntries(frame, { type: "user", seq: draft.seq }));
  if (current) change(draft, { frame: id });
  return undefined;
};

const problemOfHistory = (id: string, messages: EventOf<"frame.opened">["messages"]): Rejection | undefined => {
  if (id.trim() === "") return reject("empty_id", "a frame needs a name that is not blank");
  const problem = messages.length === 0 ? undefined : problemOfMessages(messages);
  return problem === undefined ? undefined : reject("invalid_turn", problem);
};

export const onChecked = (draft: Draft, event: EventOf<"turn.checked">): Rejection | undefined => {
  const { running: row } = conversationOf(draft);
  if (row?.request !== event.request || row.phase.type !== "checking" || row.phase.n !== event.n)
    return reject("wrong_phase", `turn \`${event.request}\` is not checked at model call ${event.n}`);
  const { verdict, messages = [] } = event;
  const problem = messages.length === 0 ? undefined : problemOfMessages(messages);
  if (problem !== undefined) return reject("invalid_turn", problem);
  const { end } = row.phase;
  if (messages.length > 0) append(draft, row, { type: "user", seq: draft.seq });
  if (verdict.type === "end") endTurn(draft, row, { status: "stopped", because: "check", reason: verdict.reason });
  else if (end === undefined) afterCheck(draft, row);
  else if (messages.length > 0) checkpoint(draft, row);
  else if (joiners(draft).length > 0) checkpoint(draft, row, end);
  else endTurn(draft, row, end);
  return undefined;
};

// People.

type Parked = PhaseIn<"parked">;

/** Returns whether what was reached is reached still, with these additions. */
const isTooSmall = (
  draft: Draft,
  row: RunningTurn,
  { reached }: Parked,
  add: { turn?: Amounts; session?: Amounts },
): boolean =>
  levelsOf(draft, row).some(({ of, limits }) =>
    reached.some(({ of: level, what, used }) => {
      const limit = limits[what]?.limit;
      return level === of && limit !== undefined && used >= limit + (add[of]?.[what] ?? 0);
    }),
  );

const extended = (draft: Draft, row: RunningTurn, phase: Parked, add: { turn?: Amounts; session?: Amounts }): void => {
  const { limits } = conversationOf(draft);
  change(draft, { limits: { ...limits, session: raised(limits.session, add.session) } });
  const parkedMs = row.parkedMs + draft.at - phase.since;
  const next = { ...row, parkedMs, limits: raised(row.limits, add.turn) };
  raiseGrant(draft, add.session);
  observe(draft, row.request, { what: "turn_resumed", ask: phase.ask });
  const call = callIn(phase);
  // Its time while it was parked is in `parkedMs` already: the phase that had it is over.
  const resumed = { ...next, phase: { type: "loading", agent: "" } } as const;
  if (call !== undefined) askAgain(draft, resumed, call);
  else if (phase.end !== undefined && joiners(draft).length === 0) conclude(draft, resumed, phase.end);
  else checkpoint(draft, resumed, phase.end);
};

export const onDecided = (draft: Draft, event: EventOf<"budget.decided">): Rejection | undefined => {
  const { running: row } = conversationOf(draft);
  if (row?.phase.type !== "parked" || row.phase.ask !== event.ask)
    return reject("stale_decision", `question ${event.ask} about a budget is not open`);
  const { phase } = row;
  const { decision, add = {} } = event;
  if (decision === "stop") {
    endTurn(draft, row, { status: "stopped", because: "budget", reached: phase.reached });
    return undefined;
  }
  if (isTooSmall(draft, row, phase, add)) {
    const of = phase.reached.map(({ of: level, what, used }) => `${what} of the ${level} (used ${used})`).join(", ");
    return reject("extension_too_small", `the extension leaves a limit reached: ${of}`);
  }
  extended(draft, row, phase, add);
  return undefined;
};

export const onCompaction = (draft: Draft, { request }: EventOf<"compaction.requested">): Rejection | undefined => {
  const { running, frame } = conversationOf(draft);
  if (request !== undefined && running?.request !== request)
    return reject("request_unknown", `turn \`${request}\` does not run`);
  putFrame(draft, { ...frameOf(draft, running?.frame ?? frame), wanted: true });
  return undefined;
};
