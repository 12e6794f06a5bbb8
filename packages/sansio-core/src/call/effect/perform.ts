/** Takes what a body asks for: refuses it, opens its effect, and asks the world or another concern to carry it out. */
import { type EffectSpec, type OpenEffect, type SettledEffect, decideSelect } from "./effect.ts";
import { type Requested, conflictOfSpec, isForgotten, isOpen } from "./ask.ts";
import { recorded } from "../recovery/owner-lost.ts";
import { missingRule } from "../../kernel/protocol.ts";
import type { OwnWait } from "../../wait/model.ts";
import type { CallIn, CallRow } from "../model.ts";
import {
  askedCall,
  inPhase,
  isRejection,
  problemOfRun,
  putCall,
  runningRow,
  withPatches,
  withoutRoom,
} from "../row.ts";
import { type Bodied, settleAll, withBody } from "./settle.ts";
import { problemOfRoom } from "../suspend.ts";
import { type StreamSpec, beginStream } from "./stream.ts";
import { processOfScope } from "../../identity/scope.ts";
import { deadlineIn } from "../../kernel/deadline.ts";
import type { Draft } from "../../kernel/draft.ts";
import { type Rejection, reject } from "../../kernel/error.ts";
import { effectBatch } from "../../kernel/vocabulary.ts";
import { handleProblem } from "../../link/handle.ts";

type Spec<K extends EffectSpec["kind"]> = Extract<EffectSpec, { readonly kind: K }>;

/** Whose own a wait is: signals count over all lives, and are nobody's. */
const ownOf = ({ call: { ref }, body }: CallIn<"running">, { own, signal }: Spec<"wait">): OwnWait | undefined => {
  if (own === undefined || signal !== undefined) return undefined;
  return own === "call" ? { call: ref } : { call: ref, life: body.life.number };
};

/** Lists a wait that is the call's own, so that it leaves with it. */
const keeping = (row: CallIn<"running">, effect: EffectSpec): CallIn<"running"> => {
  const { body } = row;
  const isKept = effect.kind === "wait" && ownOf(row, effect) !== undefined && !body.waits.includes(effect.wait);
  return isKept ? { ...row, body: { ...body, waits: body.waits.concat(effect.wait) } } : row;
};

const openWait = (draft: Draft, row: CallIn<"running">, key: string, effect: Spec<"wait">): void => {
  const { ref, request } = row.call;
  const own = ownOf(row, effect);
  const waiter = { call: ref, effect: key };
  draft.raise({ type: "wait.open", key: effect.wait, waiter, request, ...(own === undefined ? {} : { own }) });
  if (effect.signal !== undefined) draft.raise({ type: "process.wait", key: effect.wait, ...effect.signal });
};

/** A message of one who may not send it is refused here, and goes nowhere: its own request is then its answer. */
const sendMessage = (draft: Draft, row: CallIn<"running">, key: string, effect: Spec<"message">): void => {
  const { ref, request } = row.call;
  const { to, message, holder } = effect;
  if (holder !== undefined && handleProblem(draft, holder, processOfScope(to), message.type) !== undefined) {
    return draft.raise({ type: "effect.end", call: ref, key, status: "err", value: draft.seq });
  }
  if (message.type === "process.await") draft.raise({ type: "wait.claim", key: message.wait, request });
  const origin = { call: ref, key, requested: draft.seq };
  const isAgent = message.type === "process.start" && message.registration.input.type === "session_turn";
  if (isAgent) return draft.raise({ type: "agent.start", to, message, origin });
  return draft.raise({ type: "messages.send", to, message, isLast: false, origin });
};

/** The host request that a trigger is. */
const triggerRequest = "trigger.emit";

/** Asks it. */
export const perform = (draft: Draft, row: CallIn<"running">, { key, effect, attempt, run }: Requested): void => {
  const { ref, name, request } = row.call;
  switch (effect.kind) {
    case "wait":
      return openWait(draft, row, key, effect);
    case "message":
      return sendMessage(draft, row, key, effect);
    case "event":
      return draft.raise({ type: "process.emit", call: ref, key, effect });
    case "host":
    case "trigger": {
      const { kind, input } = effect;
      const asked = kind === "host" ? effect.name : triggerRequest;
      return draft.emit({ type: "host.request", call: ref, attempt, run, key, name: asked, input });
    }
    case "batch": {
      const calls = effect.calls.map((call) => ({ ...call, by_id: true }));
      const place = { ref: effectBatch(ref, key), prefix: `${name}/${key}/`, parent: { call: ref, effect: key } };
      return draft.raise({ type: "batch.create", request, ...place, calls });
    }
    case "approval": {
      const { title, args } = effect;
      const asked = { call: askedCall(ref, key), tool: row.tool, call_id: title, args };
      return draft.emit({ type: "observe", what: "call_parked", ...asked });
    }
    case "step":
    case "sleep":
    case "cleanup":
    case "select":
      return undefined;
  }
};

const opened = (draft: Draft, { key, hash, effect, attempt, run }: Requested): OpenEffect => {
  const open = { key, kind: effect.kind, hash, seq: draft.seq, attempt, run };
  const due = (ms: number): OpenEffect["due"] & {} => deadlineIn(draft, ms);
  switch (effect.kind) {
    case "sleep":
      return { ...open, due: due(effect.ms) };
    case "wait":
      return effect.deadline_ms === undefined
        ? { ...open, wait: effect.wait }
        : { ...open, wait: effect.wait, due: due(effect.deadline_ms) };
    case "select":
      return { ...open, select: { mode: effect.mode, keys: effect.keys } };
    case "cleanup":
      return { ...open, cleanupMs: effect.deadline_ms };
    case "approval": {
      const { kind: _, deadline_ms: ms, ...approval } = effect;
      return ms === undefined ? { ...open, approval } : { ...open, approval, due: due(ms) };
    }
    case "step":
    case "host":
    case "trigger":
    case "batch":
    case "message":
    case "event":
      return open;
  }
};

/** Adds an effect, with no room for more: `[...open, effect]` keeps room for 16, in every body that waits. */
const opening = (open: readonly OpenEffect[], effect: OpenEffect): readonly OpenEffect[] =>
  open.length === 0 ? [effect] : open.concat(effect);

/** `before`: what an earlier attempt settled under the key, and is forgotten. */
const withOpen = (
  draft: Draft,
  row: CallIn<"running">,
  effect: OpenEffect,
  before: SettledEffect | undefined,
): CallIn<"running"> => {
  const { body } = row;
  const settled = before === undefined ? body.settled : body.settled.delete(effect.key);
  return runningRow(row, recorded(draft, body, opening(body.open, effect), settled), row);
};

/** Only a process has a log for events of its own, and a link takes more when some of it is answered. */
const problemOfScope = (draft: Draft, row: CallRow, { effect }: Requested): Rejection | undefined => {
  const { process, scope } = draft;
  if (effect.kind === "message") return problemOfRoom(draft, effect.to, row.call.ref);
  return effect.kind === "event" && process === undefined
    ? reject("process_unknown", `\`${scope.id}\` is no process`)
    : undefined;
};

/** Returns why a step cannot stream: a body that was lost begins its producers again, and each stream has one. */
const problemOfStream = (
  draft: Draft,
  { body }: CallIn<"running">,
  { recovery, stream }: Spec<"step">,
): Rejection | undefined => {
  const young = missingRule(draft.scope.protocol, "streams", "a stream");
  if (young !== undefined) return young;
  if (recovery === "once")
    return reject("wrong_phase", `stream \`${stream?.name}\`: its step has to be able to run again`);
  if (!body.open.some((effect) => effect.stream === stream?.name)) return undefined;
  return reject("effect_exists", `stream \`${stream?.name}\` is open: another step fills it`);
};

/** Begins the stream of a step that was just opened. */
const streaming = (draft: Draft, row: CallIn<"running">, stream: StreamSpec): CallIn<"running"> => ({
  ...row,
  body: { ...row.body, streams: beginStream(draft, row.body, stream) },
});

/** A select over what is settled already is decided as it is made; a call that is cancelled has a clean-up at once. */
const decideAtOnce = (draft: Draft, row: CallIn<"running">, effect: OpenEffect): Bodied => {
  if (effect.kind === "cleanup" && row.cancelled !== undefined) {
    const cancelled = { ...row.cancelled, cleans: true, due: undefined };
    return settleAll(draft, runningRow(row, row.body, { ...row, cancelled }), effect, {
      status: "ok",
      value: draft.seq,
    });
  }
  if (effect.select === undefined) return row;
  const { settled } = row.body;
  const won = decideSelect(effect.select.mode, effect.select.keys, settled);
  if (won === undefined) return row;
  const by = settled.get(won.key);
  return settleAll(draft, row, effect, { status: won.status, value: by?.value ?? draft.seq, winner: won.key });
};

/** A request that is for no step. */
const onAsked = (draft: Draft, row: CallIn<"running">, event: Requested): Rejection | undefined => {
  const refusal = conflictOfSpec(draft, row, event) ?? problemOfScope(draft, row, event);
  if (refusal !== undefined) return refusal;
  const effect = opened(draft, event);
  const next = withOpen(draft, keeping(row, event.effect), effect, row.body.settled.get(event.key));
  const after = decideAtOnce(draft, next, effect);
  putCall(draft, after, row);
  perform(draft, row, event);
  return undefined;
};

/** Records a request that cannot be carried out; the record is its own answer. */
const refuse = (draft: Draft, row: Bodied, { key, hash, effect, attempt, run }: Requested): Bodied => {
  const open: OpenEffect = { key, kind: effect.kind, hash, seq: draft.seq, attempt, run };
  const { body } = row;
  const asked = withBody(row, { ...body, open: opening(body.open, open), settled: body.settled.delete(key) });
  return settleAll(draft, asked, open, { status: "err", value: draft.seq });
};

/** `before` is what is settled under the key, if there is something. */
const conflictOfKey = (
  row: CallIn<"running">,
  event: Requested,
  before: SettledEffect | undefined,
): Rejection | undefined => {
  const { open, attempt } = row.body;
  const { call, key } = event;
  if (isOpen(open, key) || (before !== undefined && !isForgotten(before, attempt))) {
    return reject("effect_exists", `call \`${call}\`: \`${key}\` is recorded: answer it, do not record it again`);
  }
  return undefined;
};

/** A body that asks for something has used the room that was kept for it, or leaves it to the next in line. */
export const onEffectRequested = (draft: Draft, event: Requested): Rejection | undefined => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const { room } = row.body;
  const asking = room === undefined ? row : { ...row, body: withoutRoom(row.body) };
  const refusal = onRequested(draft, withPatches(asking, event.patched), event);
  if (refusal === undefined && room !== undefined) draft.raise({ type: "link.freed", to: room });
  return refusal;
};

const onRequested = (draft: Draft, row: CallIn<"running">, event: Requested): Rejection | undefined => {
  const { body } = row;
  const { key, hash, effect, attempt, run } = event;
  const before = body.settled.get(key);
  const problem = problemOfRun(row, event) ?? conflictOfKey(row, event, before);
  if (problem !== undefined) return problem;
  if (event.refused !== undefined) {
    putCall(draft, refuse(draft, row, event), row);
    return undefined;
  }
  if (effect.kind !== "step") return onAsked(draft, row, event);
  const { recovery, stream } = effect;
  const refusal = stream && problemOfStream(draft, row, effect);
  if (refusal !== undefined) return refusal;
  const step = { key, kind: "step", hash, seq: draft.seq, attempt, run, recovery } as const;
  const next = withOpen(draft, row, stream === undefined ? step : { ...step, stream: stream.name }, before);
  putCall(draft, stream === undefined ? next : streaming(draft, next, stream), row);
  draft.emit({ type: "step.run", call: row.call.ref, attempt, run, key, recovery });
  return undefined;
};
