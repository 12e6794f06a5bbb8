/** The invariants of turns, frames and ledgers, one function each: what is broken, and where. */
import type { StateCheck } from "../concern.ts";
import { isTurn } from "../request/concern.ts";
import { type State, answerBatch } from "../kernel/vocabulary.ts";
import { reachedIn, reservedBy } from "./budget.ts";
import { whats } from "../kernel/limit.ts";
import { callIn, usedBy, usedInSession } from "./conversation.ts";
import { seqsOf } from "./frame.ts";
import type { ModelCall, RunningTurn } from "./model.ts";

const ofRunning =
  (broken: (row: RunningTurn, state: State) => string | undefined): StateCheck =>
  (state) => {
    const { running } = state.conversation;
    const what = running === undefined ? undefined : broken(running, state);
    return what === undefined ? undefined : `turn \`${running?.request}\` (${running?.phase.type}): ${what}`;
  };

const ofCall = (broken: (call: ModelCall, row: RunningTurn, state: State) => string | undefined): StateCheck =>
  ofRunning((row, state) => {
    const call = callIn(row.phase);
    return call === undefined ? undefined : broken(call, row, state);
  });

export const checkTN1: StateCheck = ({ conversation: { running, waiting } }) => {
  const names = [...waiting, ...(running === undefined ? [] : [running])].map(({ request }) => request);
  if (new Set(names).size !== names.length) return "TN1: a turn waits twice, or waits and runs";
  return running === undefined && waiting.length > 0 ? `TN1: ${waiting.length} turns wait, and none runs` : undefined;
};

export const checkTN2: StateCheck = (state) => {
  const { running, waiting } = state.conversation;
  const turns = [...waiting, ...(running === undefined ? [] : [running])];
  const odd = turns.find(({ request }) => state.requests.at(request)?.phase !== "running");
  if (odd !== undefined) return `TN2: turn \`${odd.request}\` is no running request`;
  const over = state.requests.rows().find((row) => row.phase === "replying" && isTurn(state, row.request));
  return over === undefined ? undefined : `TN2: turn \`${over.request}\` has its reply, and is not over`;
};

export const checkTN3: StateCheck = (state) => {
  const { running } = state.conversation;
  const batches = state.batches.rows().filter(({ turn }) => turn === true);
  const phase = running?.phase;
  const awaited =
    running !== undefined && phase?.type === "calling" ? answerBatch(running.request, phase.n) : undefined;
  const stray = batches.find(
    ({ ref, request, phase: of }) => ref !== awaited || request !== running?.request || of === "ended",
  );
  if (stray !== undefined) return `TN3: no turn waits for batch \`${stray.ref}\``;
  return batches.length === Number(awaited !== undefined) ? undefined : `TN3: there is no batch \`${awaited}\``;
};

/** Once its agent is loaded, a turn stands on a route of it, and so does its model call. */
export const checkTN7: StateCheck = ofRunning(({ phase, agent, route }) => {
  if (phase.type === "loading") return undefined;
  const odd = [route, callIn(phase)?.route ?? route].find((one) => agent?.routes[one] === undefined);
  return odd === undefined ? undefined : `TN7: there is no route ${odd}`;
});

export const checkTN4: StateCheck = ofCall(({ n, attempt, failures, onRoute }, row) => {
  if (n !== row.n) return `TN4: model call ${n} of ${row.n}`;
  return failures < attempt && onRoute <= failures ? undefined : `TN4: ${failures} failures in ${attempt} attempts`;
});

export const checkTN5: StateCheck = ofRunning(({ request, phase }, { calls }) => {
  const early = calls.rows().find((row) => row.call.request === request && phase.type !== "calling");
  return early === undefined ? undefined : `TN5: call \`${early.call.ref}\` lives without an answer`;
});

export const checkTN6: StateCheck = ofRunning(({ cancelled, phase }) => {
  const isStopping = phase.type === "calling" || (phase.type === "stopping" && phase.for === "cancel");
  return !cancelled || isStopping ? undefined : "TN6: it is cancelled, and goes on";
});

export const checkMC1: StateCheck = ofRunning(({ phase }, { scope }) => {
  if (phase.type !== "asking" && phase.type !== "stopping") return undefined;
  const isMoving = scope.status.type !== "open";
  return isMoving || phase.call.epoch === scope.epoch
    ? undefined
    : `MC1: an attempt of epoch ${phase.call.epoch} is open in ${scope.epoch}`;
});

export const checkMC2: StateCheck = ({ conversation: { unheard, running } }) => {
  const names = unheard.map(({ request, n, attempt }) => JSON.stringify([request, n, attempt]));
  if (new Set(names).size !== names.length) return "MC2: an attempt may be heard of twice";
  const phase = running?.phase;
  if (running === undefined || (phase?.type !== "asking" && phase?.type !== "stopping")) return undefined;
  const open = JSON.stringify([running.request, phase.call.n, phase.call.attempt]);
  return names.includes(open) ? `MC2: the open attempt ${open} may be heard of late as well` : undefined;
};

const grows = (seqs: readonly number[]): boolean => seqs.every((seq, i) => i === 0 || seq > (seqs[i - 1] as number));

export const checkMC3: StateCheck = ofCall(({ streamed, prefixed, asked }, _, { seq }) => {
  const isInOrder = grows([...prefixed, ...streamed]) && streamed.every((one) => one >= asked && one <= seq);
  return isInOrder ? undefined : `MC3: its events are ${[...prefixed, ...streamed].join()}, asked for by ${asked}`;
});

export const checkFR1: StateCheck = ({ conversation: { frames, frame, running } }) => {
  const wrong = [...frames].find(([name, { id, kept, entries }]) => name !== id || kept > entries.length);
  if (wrong !== undefined) return `FR1: frame \`${wrong[0]}\` is not what it says`;
  const isThere = frames.size === 0 || frames.has(frame) || running === undefined;
  return isThere && (running === undefined || frames.has(running.frame))
    ? undefined
    : `FR1: there is no frame \`${frame}\``;
};

export const checkFR1Change = (before: State, after: State): string | undefined => {
  for (const [id, { replaced }] of after.conversation.frames) {
    const earlier = before.conversation.frames.get(id);
    if (earlier !== undefined && replaced < earlier.replaced) return `FR1: frame \`${id}\` has its past again`;
  }
  return undefined;
};

export const checkFR2: StateCheck = ({ conversation: { frames }, seq }) => {
  for (const [id, { entries }] of frames) {
    const ahead = entries.flatMap(seqsOf).find((one) => one > seq || one < 1);
    if (ahead !== undefined) return `FR2: frame \`${id}\` names event ${ahead} of ${seq}`;
  }
  return undefined;
};

export const checkBU1: StateCheck = ({ conversation: { grants, used } }) => {
  if (new Set(grants.map(({ name }) => name)).size !== grants.length) return "BU1: a sub-agent has two grants";
  const negative = [...Object.entries(used), ...Object.entries(reservedBy(grants))].find(([, amount]) => !(amount > 0));
  return negative === undefined ? undefined : `BU1: ${negative[0]} is ${negative[1]}`;
};

/** Looks at a model call as it begins: what was used before it does not reach a limit. */
export const checkBU2Change = (_: State, after: State): string | undefined => {
  const row = after.conversation.running;
  if (row?.phase.type !== "asking" || row.phase.call.asked !== after.seq || row.wrapped) return undefined;
  if (row.phase.call.attempt > 1) return undefined; // A model call that has begun may end.
  const { model_calls: calls = 1, ...rest } = row.used;
  const level = {
    of: "turn",
    limits: row.limits,
    used: { ...rest, model_calls: calls - 1 },
    reserved: reservedBy(after.conversation.grants, row.request),
  } as const;
  const [reached] = reachedIn([level]);
  return reached === undefined ? undefined : `BU2: a model is asked though ${reached.what} is used up`;
};

/** Looks at what is set aside now: it was left at every level. */
export const checkSA1Change = (before: State, after: State): string | undefined => {
  const { grants, limits, running } = before.conversation;
  const fresh = after.conversation.grants.find(({ name }) => !grants.some((grant) => grant.name === name));
  if (fresh === undefined) return undefined;
  const levels = [[limits.session, usedInSession(before.conversation, after.at), reservedBy(grants)] as const];
  if (running?.request === fresh.turn)
    levels.push([running.limits, usedBy(running, after.at), reservedBy(grants, running.request)]);
  for (const [bounds, used, reserved] of levels)
    for (const what of whats) {
      const left = Math.max(0, (bounds[what]?.limit ?? Infinity) - (used[what] ?? 0) - (reserved[what] ?? 0));
      const amount = fresh.amounts[what] ?? 0;
      if (amount > left) return `SA1: \`${fresh.name}\` is granted ${amount} of ${left} ${what}`;
    }
  return undefined;
};

export const turnChecks: readonly StateCheck[] = [
  checkTN1,
  checkTN2,
  checkTN3,
  checkTN4,
  checkTN5,
  checkTN6,
  checkTN7,
  checkMC1,
  checkMC2,
  checkMC3,
  checkFR1,
  checkFR2,
  checkBU1,
];
export const turnChangeChecks = [checkFR1Change, checkBU2Change, checkSA1Change] as const;
