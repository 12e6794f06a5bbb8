/** Takes what is said of attempts: by their models, by the host about those that were lost, and by time. */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { EventOf, SignalOf, State } from "../kernel/vocabulary.ts";
import { answered, chargedForAnswer } from "./answer.ts";
import { type Used, added, charge } from "./budget.ts";
import { change, charged, conversationOf, put } from "./conversation.ts";
import { askLost, chargedForFailure, failed, giveUpLost, lost, notFound, onPauseOver } from "./failure.ts";
import type { ModelCall, PhaseIn, RunningTurn, Unheard } from "./model.ts";
import { stopped, stoppedInSilence } from "./turn.ts";

interface OfAttempt {
  readonly request: string;
  readonly n: number;
  readonly attempt: number;
}

const isOf = ({ request, n, attempt }: OfAttempt, row: RunningTurn, call: ModelCall): boolean =>
  row.request === request && call.n === n && call.attempt === attempt;

const unheardOf = ({ conversation }: State, of: OfAttempt): Unheard | undefined =>
  conversation.unheard.find(
    ({ request, n, attempt }) => of.request === request && of.n === n && of.attempt === attempt,
  );

/** An attempt that is open: its model is asked, or told to stop. */
interface Open {
  readonly row: RunningTurn;
  readonly phase: PhaseIn<"asking" | "stopping">;
  readonly call: ModelCall;
}

const openAttempt = ({ conversation: { running: row } }: State, of: OfAttempt): Open | undefined => {
  const phase = row?.phase;
  if (row === undefined || (phase?.type !== "asking" && phase?.type !== "stopping")) return undefined;
  return isOf(of, row, phase.call) ? { row, phase, call: phase.call } : undefined;
};

/** Says if an answer or a failure is taken, recorded as `model.late`, or known already. */
export const modelFate = (state: State, of: OfAttempt): "take" | "late" | "known" => {
  if (openAttempt(state, of) !== undefined) return "take";
  return unheardOf(state, of) === undefined ? "known" : "late";
};

const named = ({ request, n, attempt }: OfAttempt): string =>
  `attempt ${attempt} of model call ${n} of turn \`${request}\``;

const open = (draft: Draft, of: OfAttempt): Open | Rejection => {
  const found = openAttempt(draft.state, of);
  if (found !== undefined) return found;
  return unheardOf(draft.state, of) === undefined
    ? reject("already_answered", `${named(of)} is not open: it has ended, or was never asked for`)
    : reject("stale_attempt", `${named(of)} is not open any more: record \`model.late\` instead`);
};

const isRejection = (found: object): found is Rejection => "type" in found && found.type === "rejection";

export const onIdentified = (draft: Draft, event: EventOf<"model.identified">): Rejection | undefined => {
  const found = open(draft, event);
  if (isRejection(found)) return found;
  const { row, phase, call } = found;
  put(draft, { ...row, phase: { ...phase, call: { ...call, providerId: event.provider_id } } });
  return undefined;
};

export const onStreamed = (draft: Draft, event: EventOf<"model.streamed">): Rejection | undefined => {
  const found = open(draft, event);
  if (isRejection(found)) return found;
  const { row, phase, call } = found;
  const said = { streamed: [...call.streamed, draft.seq], pieces: [...call.pieces, ...event.pieces] };
  put(draft, { ...row, phase: { ...phase, call: { ...call, ...said } } });
  return undefined;
};

export const onAnswered = (draft: Draft, event: EventOf<"model.answered">): Rejection | undefined => {
  const found = open(draft, event);
  if (isRejection(found)) return found;
  const { phase, call } = found;
  if (event.streamed !== undefined && event.streamed !== call.streamed.length) {
    const message = `${named(event)} has ${call.streamed.length} \`model.streamed\` on record, found ${event.streamed}`;
    return reject("stale_attempt", message);
  }
  const row = chargedForAnswer(draft, found.row, call, event.usage);
  if (phase.type === "stopping") stopped(draft, row, phase, event.pieces);
  else answered(draft, row, call, event);
  return undefined;
};

export const onFailed = (draft: Draft, event: EventOf<"model.failed">): Rejection | undefined => {
  const found = open(draft, event);
  if (isRejection(found)) return found;
  const { phase, call } = found;
  const row = chargedForFailure(draft, found.row, call, event.usage);
  const { class: of, message, retry_after_ms: retryAfterMs, pieces = [] } = event;
  if (phase.type === "stopping") stopped(draft, row, phase, pieces);
  else if (of === "not_found" && call.mode === "fetch") notFound(draft, row, call);
  else failed(draft, row, call, { class: of, message, retryAfterMs, pieces });
  return undefined;
};

export const onStopped = (draft: Draft, event: EventOf<"model.stopped">): Rejection | undefined => {
  const found = open(draft, event);
  if (isRejection(found)) return found;
  const { phase, call } = found;
  if (phase.type !== "stopping") return reject("wrong_phase", `${named(event)} was not told to stop`);
  const row = chargedForAnswer(draft, found.row, call, event.usage ?? {});
  stopped(draft, row, phase, event.pieces);
  return undefined;
};

const forget = (draft: Draft, one: Unheard): void =>
  change(draft, { unheard: conversationOf(draft).unheard.filter((other) => other !== one) });

/** Usage of an attempt that nobody waits for: it is the turn's if that runs still, and the session's otherwise. */
const chargeLate = (draft: Draft, request: string, used: Used): void => {
  const { running, used: before } = conversationOf(draft);
  if (running?.request === request) put(draft, charged(running, used));
  else change(draft, { used: added(before, used) });
};

export const onLate = (draft: Draft, event: EventOf<"model.late">): Rejection | undefined => {
  const one = unheardOf(draft.state, event);
  if (one === undefined) return reject("already_answered", `${named(event)} has been heard of already`);
  forget(draft, one);
  chargeLate(draft, event.request, charge(event.usage ?? {}, conversationOf(draft).prices.get(one.model)));
  return undefined;
};

export const onResolved = (draft: Draft, event: EventOf<"model.resolved">): Rejection | undefined => {
  const { running: row } = conversationOf(draft);
  if (row?.phase.type !== "unknown" || !isOf(event, row, row.phase.call))
    return reject("wrong_phase", `nobody asks what became of ${named(event)}`);
  const { call } = row.phase;
  const { outcome } = event;
  const one = unheardOf(draft.state, event);
  if (outcome.type === "again") askLost(draft, row, call);
  else if (outcome.type === "give_up") giveUpLost(draft, row);
  else {
    if (one !== undefined) forget(draft, one);
    // Usage that was heard of late is counted already.
    answered(draft, one === undefined ? row : chargedForAnswer(draft, row, call, outcome.usage), call, outcome);
  }
  return undefined;
};

/** The owner of the open attempt is gone. A stop that was under way is over with it. */
export const onLost = (draft: Draft, { isCrash }: SignalOf<"turn.lost">): void => {
  const { running: row } = conversationOf(draft);
  if (row === undefined) return;
  if (row.phase.type === "asking") lost(draft, row, row.phase.call, isCrash);
  else if (row.phase.type === "stopping") stoppedInSilence(draft, row, row.phase);
};

/** The running turn's pause is over, or its stopped attempt was silent for too long. */
export const onTurnDue = (draft: Draft): void => {
  const { running: row } = conversationOf(draft);
  if (row?.phase.type === "backing_off") onPauseOver(draft, row, row.phase.call, row.phase.cause);
  else if (row?.phase.type === "stopping") stoppedInSilence(draft, row, row.phase);
};
