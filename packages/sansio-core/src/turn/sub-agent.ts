/**
 * Sub-agents: a process whose work is one turn of an agent. Its parent gives it part of what is left of its own budget, and
 * is charged what it has really used, once its turn is over. Grant and end are events of the parent's log, so its ledger is
 * exact whatever crashes, and nothing is asked of the parent in between.
 *
 *   parent   process.start ─▶ [grant set aside] ─▶ refused, or not the first that starts it: free again
 *                                    │     ▲
 *                                    ▼     └─ budget.raised: a person has extended it down there
 *                               process.ended: what was used is charged, the rest is free
 *   child    begun with the grant as the limits of its scope ─▶ its turn ends ─▶ so does the process
 *
 * Invariants
 *   SA1  a grant is no more than was left of any limit above it
 */
import type { CallRow } from "../call/model.ts";
import type { Draft } from "../kernel/draft.ts";
import { Invariant } from "../kernel/error.ts";
import type { Amounts, Limits } from "../kernel/limit.ts";
import { hasRule } from "../kernel/protocol.ts";
import type { CallRef, SignalOf } from "../kernel/vocabulary.ts";
import { type ProcessAwaitOutput, type ProcessRegistration, agentTurn } from "../process/model.ts";
import { ownExecutionScope } from "../request/model.ts";
import { defaultRepairs } from "./agent.ts";
import { type AgentTask, agentTaskIn } from "./agent-task.ts";
import { beginTurn } from "./turn.ts";
import { type Level, added, chargedOf, grantOf, limitsOfGrant, raised, raisedGrant } from "./budget.ts";
import { change, charged, conversationOf, levelsOf, put, putFrame, sessionLevel } from "./conversation.ts";
import { emptyFrame, mainFrame, withEntries } from "./frame.ts";
import type { WaitingTurn } from "./model.ts";

// The child.

const failed = (code: string, message: string): ProcessAwaitOutput => ({
  type: "failure",
  class: "invalid_request",
  code,
  message,
});

const waitingTurn = ({ seq }: Draft, { agent, limits, output }: AgentTask): WaitingTurn => ({
  request: agentTurn,
  born: seq,
  place: "queue",
  agentName: agent,
  ...(limits === undefined ? {} : { own: limits }),
  ...(output === undefined ? {} : { repairs: output.repairs ?? defaultRepairs }),
});

/** Begins the turn of a process, in a frame that has the history that it was given, and nothing else. */
export const onBegin = (draft: Draft, { input, hash, limits }: SignalOf<"turn.begin">): void => {
  const task = agentTaskIn(input);
  if (typeof task === "string")
    return draft.raise({ type: "process.finish", output: failed("invalid_turn", task), used: {} });
  const { seq: born, scope } = draft;
  const executionScope = ownExecutionScope(scope.id, agentTurn);
  draft.putRequest({ request: agentTurn, hash, born, executionScope, phase: "running", waits: [] });
  const standing = conversationOf(draft).limits;
  change(draft, { limits: { ...standing, session: { ...standing.session, ...limits } } });
  if (task.history.length > 0)
    putFrame(draft, withEntries(emptyFrame(mainFrame, task.agent, born), { type: "user", seq: born, given: true }));
  beginTurn(draft, waitingTurn(draft, task));
};

/** Tells the scope that gave the grant of this one that a person has extended it, in what it is limited in. */
export const raiseGrant = (draft: Draft, add: Amounts = {}): void => {
  const { process } = draft;
  const more = ofNames(add, Object.keys(conversationOf(draft).limits.session));
  if (process?.grantedBy === undefined || Object.keys(more).length === 0) return;
  const message = { type: "budget.raised", process: process.registration.id, add: more } as const;
  draft.raise({ type: "messages.send", to: process.grantedBy, message, isLast: false });
};

const ofNames = (amounts: Amounts, names: readonly string[]): Amounts =>
  Object.fromEntries(Object.entries(amounts).filter(([what]) => names.includes(what)));

// The parent.

/** How many calls share what is left: those of the same tool and batch that go on, and have no grant yet. */
const sharers = (draft: Draft, call: CallRef): number => {
  const own = draft.call(call);
  const { grants } = conversationOf(draft);
  const refs = own === undefined ? [] : (draft.batch(own.call.batch)?.calls ?? []);
  const others = refs.filter((ref) => {
    const row = draft.call(ref);
    const isAlike = ref !== call && row?.tool === own?.tool && row?.phase !== "completed";
    return isAlike && !grants.some((grant) => grant.call === ref);
  });
  return others.length + 1;
};

const wantedBy = ({ input }: ProcessRegistration): Amounts => {
  const task = input.type === "session_turn" ? agentTaskIn(input) : "";
  if (typeof task === "string" || task.limits === undefined) return {};
  return Object.fromEntries(Object.entries(task.limits).map(([what, { limit }]) => [what, limit]));
};

/** The levels of budgets that a request stands under: it is the running turn, or has those of the session alone. */
const levelsAbove = (draft: Draft, request: string): readonly Level[] => {
  const { running } = conversationOf(draft);
  return running?.request === request ? levelsOf(draft, running) : [sessionLevel(draft)];
};

/** Sets a grant aside for a sub-agent, and asks for its process with it. What is started twice has one grant. */
export const onStart = (draft: Draft, { to, message, origin }: SignalOf<"agent.start">): void => {
  const { grants } = conversationOf(draft);
  const { registration } = message;
  const call = draft.call(origin.call);
  if (call === undefined) throw new Invariant(`call ${origin.call} starts \`${registration.id}\`, and is not there`);
  const hasBudget = hasRule(draft.scope.protocol, "turns") && !grants.some(({ name }) => name === registration.id);
  const limits = !hasBudget ? {} : { limits: granted(draft, registration, call.call) };
  draft.raise({ type: "messages.send", to, message: { ...message, ...limits }, isLast: false, origin });
};

const granted = (draft: Draft, registration: ProcessRegistration, { ref, request }: CallRow["call"]): Limits => {
  const levels = levelsAbove(draft, request);
  const amounts = grantOf(levels, sharers(draft, ref), wantedBy(registration));
  const grant = { name: registration.id, turn: request, call: ref, amounts };
  change(draft, { grants: [...conversationOf(draft).grants, grant] });
  return limitsOfGrant(levels, amounts);
};

/** A sub-agent has used so much, and has ended; or it was not begun. What is left of its grant is free. */
export const onReturned = (draft: Draft, { process, used }: SignalOf<"agent.returned">): void => {
  const { grants, running, used: before } = conversationOf(draft);
  const grant = grants.find(({ name }) => name === process);
  if (grant !== undefined) change(draft, { grants: grants.filter((one) => one !== grant) });
  const more = chargedOf(used);
  if (Object.keys(more).length === 0) return;
  if (running !== undefined && running.request === grant?.turn) put(draft, charged(running, more));
  else change(draft, { used: added(before, more) });
};

/** A person has extended the budget of a sub-agent: its grant grows, and so do the limits of every level above it. */
export const onRaised = (draft: Draft, { process, add }: SignalOf<"agent.raised">): void => {
  const { grants, running, limits } = conversationOf(draft);
  const grant = grants.find(({ name }) => name === process);
  if (grant === undefined) return;
  const more = ofNames(add, Object.keys(grant.amounts));
  const next = { ...grant, amounts: raisedGrant(grant.amounts, more) };
  const session = raised(limits.session, more);
  change(draft, { grants: grants.map((one) => (one === grant ? next : one)), limits: { ...limits, session } });
  if (running !== undefined && running.request === grant.turn)
    put(draft, { ...running, limits: raised(running.limits, more) });
  raiseGrant(draft, more);
};
