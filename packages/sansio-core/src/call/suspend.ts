/**
 * Suspension: a body that waits only for what will be on record leaves memory, and starts again with the record that
 * answers a request of its own.
 *
 *   running ──call.suspended──▶ suspended ──an answer, or room in its link──▶ resuming ──call.resumed──▶ running
 *
 * A driver asks for it when a body has been quiet for a while; the rows decide. A batch is waited for while none of its
 * calls runs, or is about to by itself: its calls may be suspended as well, so that a whole chain of callers leaves
 * memory. What starts again below, after a person's word, wakes nobody above before the batch has its replies.
 *
 * A body whose next message finds its link full waits in line with the others. Each answer of the peer wakes as many as
 * there is room for, in the order in which they were suspended. The room is kept for a woken body until it has asked for
 * something, its message or another thing, or does not run: what it waits for may need the room.
 */
import { recoveryOf } from "../catalog/model.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import { type ProtocolRule, hasRule } from "../kernel/protocol.ts";
import { type CallRef, type EventOf, type SignalOf, effectBatch } from "../kernel/vocabulary.ts";
import { problemOfLink, unansweredOf } from "../link/model.ts";
import { isQuietBatch } from "./batch.ts";
import type { OpenEffect } from "./effect/effect.ts";
import { resuming } from "./launch.ts";
import type { BodyState, CallIn, CallRow, RoomWanted } from "./model.ts";
import { bodyOf, earliestDue, inPhase, isRejection, known, move, problemOfRun, putCall, withoutRoom } from "./row.ts";
import { bodied, openEffect, withBody } from "./effect/settle.ts";
import { cancelNow } from "./stop.ts";

const rule: ProtocolRule = "suspends_every_wait";

const isCleanup = ({ kind }: OpenEffect): boolean => kind === "cleanup";

/** A step that an earlier attempt left open is nobody's work: it may run only once, and its outcome is unknown. */
const isLeftOpen = (effect: OpenEffect, { attempt }: BodyState): boolean =>
  effect.kind === "step" && effect.attempt < attempt;

/** Returns whether an effect ends by a record that nobody in memory is at work on. */
const isPassive = (draft: Draft, { call, body }: CallIn<"running">, effect: OpenEffect): boolean => {
  switch (effect.kind) {
    case "wait":
    case "sleep":
    case "select":
    case "cleanup":
    case "approval":
      return true;
    case "message":
      return hasRule(draft.scope.protocol, rule);
    case "host":
    case "trigger":
      return effect.waiting !== undefined;
    case "batch":
      return hasRule(draft.scope.protocol, rule) && isQuietBatch(draft.state, effectBatch(call.ref, effect.key));
    case "step":
      return effect.due !== undefined || (hasRule(draft.scope.protocol, rule) && isLeftOpen(effect, body));
    case "event":
      return false;
  }
};

/** Returns whether the body waits, and for nothing but records. Without an effect that ends it would wait for ever. */
const waitsOnly = (draft: Draft, row: CallIn<"running">, isForRoom: boolean): boolean => {
  const { open, manifest } = row.body;
  if (recoveryOf(manifest) !== "rerunnable") return false;
  const ends = (effect: OpenEffect): boolean => !isCleanup(effect) && !isLeftOpen(effect, row.body);
  return (isForRoom || open.some(ends)) && open.every((effect) => isPassive(draft, row, effect));
};

/** Returns whether the body has an answer that it has not heard: deadlines pass before the event that suspends it. */
const isJustAnswered = (draft: Draft, call: CallRef): boolean =>
  draft.commands.some((command) => command.type === "step.answer" && command.call === call);

const problemOfSuspension = (
  draft: Draft,
  row: CallIn<"running">,
  { call, link }: EventOf<"call.suspended">,
): Rejection | undefined => {
  const refused = (why: string): Rejection => reject("wrong_phase", `call \`${call}\` may not be suspended: ${why}`);
  if (row.cancelled !== undefined || !waitsOnly(draft, row, link !== undefined))
    return refused("it waits for more than records");
  if (isJustAnswered(draft, row.call.ref)) return refused("it has an answer to hear");
  const isFree = link !== undefined && problemOfRoom(draft, link, row.call.ref) === undefined;
  return isFree ? refused(`there is room in the link to \`${link}\``) : undefined;
};

export const onSuspended = (draft: Draft, event: EventOf<"call.suspended">): Rejection | undefined => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const problem = problemOfRun(row, event);
  if (problem !== undefined) return problem;
  if (event.parked !== undefined) return park(draft, row, event.parked);
  const refusal = problemOfSuspension(draft, row, event);
  if (refusal !== undefined) return refusal;
  const { link } = event;
  move(draft, row, suspended(row, row.body, link === undefined ? undefined : { to: link, since: draft.seq }));
  return undefined;
};

const suspended = (
  { call, tool, args, observed }: CallRow,
  before: BodyState,
  link?: RoomWanted,
): CallIn<"suspended"> => {
  const body = withoutRoom(before);
  const due = earliestDue(body.open);
  const row = { call, tool, args, observed, phase: "suspended", body, due } as const;
  return link === undefined ? row : { ...row, link };
};

/** A body that has ended and is to run again does so whatever its recovery; all else is left, but what it does when it is cancelled. */
const park = (draft: Draft, row: CallIn<"running">, key: string): Rejection | undefined => {
  const wait = row.body.open.find((effect) => effect.key === key && effect.kind === "wait");
  if (wait === undefined) return reject("not_a_waiter", `call \`${row.call.ref}\` does not wait under \`${key}\``);
  const open = row.body.open.filter((effect) => effect === wait || isCleanup(effect));
  move(draft, row, row.cancelled === undefined ? suspended(row, { ...row.body, open }) : cancelNow(draft, row));
  return undefined;
};

/** The host asks a person: its answer will be on record whenever it comes, and no body has to wait for it in memory. */
export const onHostWaiting = (draft: Draft, event: EventOf<"host.waiting">): Rejection | undefined => {
  const { call, key, seq, name, input } = event;
  const row = bodied(draft, call);
  if (isRejection(row)) return row;
  const effect = openEffect(row, key, "host", "trigger");
  if ("type" in effect) return effect;
  if (effect.seq !== seq)
    return reject("effect_unknown", `call \`${call}\`: \`${key}\` is of event ${effect.seq}, found ${seq}`);
  if (effect.waiting !== undefined) return reject("wrong_phase", `call \`${call}\`: \`${key}\` waits already`);
  const open = row.body.open.map((other) => (other === effect ? { ...effect, waiting: { name, input } } : other));
  putCall(draft, withBody(row, { ...row.body, open }), row);
  return undefined;
};

// Room in a link.

/** Counts the messages for which a link has room kept, since their bodies were woken to send them. */
const keptRoom = (draft: Draft, to: string): number => draft.calls().filter((row) => bodyOf(row)?.room === to).length;

/** Most links have room for more messages than there are calls. */
const mayBeFull = (draft: Draft, to: string): boolean =>
  unansweredOf(draft.link(to) ?? {}) + draft.state.calls.size >= draft.options.max_unanswered;

/**
 * Returns why a body cannot send a message now: others have the room, or have waited longer for it. What is kept for others
 * does not take its own room from it: after the bound was lowered, more may be kept than there is.
 */
export const problemOfRoom = (draft: Draft, to: string, call: CallRef): Rejection | undefined => {
  if (!mayBeFull(draft, to)) return undefined;
  return problemOfLink(draft, to, bodyOf(known(draft, call))?.room === to ? 0 : keptRoom(draft, to));
};

const wakeFor = (draft: Draft, to: string): void => {
  const room = draft.options.max_unanswered - unansweredOf(draft.link(to) ?? {}) - keptRoom(draft, to);
  const inLine = draft.calls().flatMap((row) => (row.phase === "suspended" && row.link?.to === to ? [row] : []));
  const first = inLine.toSorted((a, b) => (a.link?.since ?? 0) - (b.link?.since ?? 0)).slice(0, Math.max(0, room));
  for (const row of first)
    putCall(draft, resuming(draft, row, { body: { ...row.body, room: to }, cause: "suspended" }), row);
};

/** Wakes bodies that wait for room in a link; without a name, in all. */
export const onLinkFreed = (draft: Draft, { to }: SignalOf<"link.freed">): void => {
  if (to !== undefined) return mayBeFull(draft, to) ? wakeFor(draft, to) : undefined;
  const wanted = draft.calls().flatMap((row) => (row.phase === "suspended" ? (row.link?.to ?? []) : []));
  for (const peer of new Set(wanted)) wakeFor(draft, peer);
};
