/**
 * Rows of calls: how they are read, and the one place where they are written, so that a batch always hears what became
 * of its slots.
 */
import { type Deadline, isSameDeadline } from "../kernel/deadline.ts";
import type { Tool } from "../catalog/model.ts";
import type { OpenEffect } from "./effect/effect.ts";
import type { BodyState, CallIn, CallPhase, CallRow, Patches } from "./model.ts";
import type { Resolution } from "@pawl/tool-value";
import type { Draft } from "../kernel/draft.ts";
import { codeOf } from "../scope/model.ts";
import { type Rejection, Invariant, reject } from "../kernel/error.ts";
import { type CallRef, streamId } from "../kernel/vocabulary.ts";

/** Returns whether a person has to decide on the call. */
export const awaitsApproval = (row: CallRow | undefined): row is CallIn<"awaiting_approval"> =>
  row?.phase === "awaiting_approval";

/** Names an approval that a body asks for, as a call is named: by its decision, and where approvals are listed. */
export const askedCall = (ref: CallRef, key: string): CallRef => `${ref}/${key}` as CallRef;

/** The order in which calls were made: of those that one event made for several batches, that of their names. */
export const byBirth = ({ call: a }: CallRow, { call: b }: CallRow): number =>
  a.born - b.born || a.index - b.index || (a.ref < b.ref ? -1 : 1);

/** Phases in which a call still has to do with the outside on its way to an output. */
const isEnded = (row: CallRow): row is CallIn<"finishing" | "completed"> =>
  row.phase === "finishing" || row.phase === "completed";

/** Phases in which a call holds a slot of its batch. */
const occupying: ReadonlySet<CallPhase> = new Set([
  "queued",
  "running",
  "resuming",
  "suspended",
  "no_executor",
  "backing_off",
]);
export const occupies = (row: CallRow): boolean => occupying.has(row.phase);

/** Returns the record of a call's body, where the call has one. */
export const bodyOf = (row: CallRow): BodyState | undefined => ("body" in row ? row.body : undefined);

/** Returns the attempt that a call waits to begin; undefined where it waits for no place. */
export const queuedAttempt = (row: CallRow | undefined): number | undefined => {
  if (row?.phase === "queued") return 1;
  return row?.phase === "backing_off" && row.due === undefined ? row.body.attempt + 1 : undefined;
};

/** Returns the queue of a call's tool, wherever the call stands. */
export const queueOf = (row: CallRow): Tool["queue"] =>
  "body" in row && row.body !== undefined
    ? row.body.manifest.queue
    : "manifest" in row
      ? row.manifest.queue
      : undefined;

/**
 * Returns whether this version of the tool could not go on with the attempt before. What crashed again and again did so in
 * one process after the other: there it takes other code.
 */
export const hasFailed = ({ failed }: BodyState, version: string | undefined): boolean =>
  version !== undefined &&
  failed.some(
    (one) => one.version === version || (one.cause === "crash_loop" && codeOf(one.version) === codeOf(version)),
  );

const sooner = (a: Deadline | undefined, b: Deadline | undefined): Deadline | undefined => {
  if (a === undefined || b === undefined) return a ?? b;
  return b.at < a.at || (b.at === a.at && b.birth < a.birth) ? b : a;
};

/** The earliest of a body's own deadlines; settled effects have none, and are not looked at. */
export const earliestDue = (open: readonly OpenEffect[], also?: Deadline): Deadline | undefined => {
  let due = also;
  for (const effect of open) due = sooner(due, effect.due);
  return due;
};

/** A running row, with the deadline that follows from its body and its cancel. */
export const runningRow = (
  { call, tool, args }: Pick<CallRow, "call" | "tool" | "args">,
  body: BodyState,
  of: Pick<CallIn<"running">, "owner" | "key" | "cancelled">,
): CallIn<"running"> => ({
  call,
  tool,
  args,
  observed: true,
  phase: "running",
  owner: of.owner,
  key: of.key,
  cancelled: of.cancelled,
  body,
  due: earliestDue(body.open, of.cancelled?.due),
});

/** Gives back the room in a link that was kept for a body's next message. */
export const withoutRoom = (body: BodyState): BodyState => {
  if (body.room === undefined) return body;
  const { room: _, ...rest } = body;
  return rest;
};

/** Takes note of what `ctx.patched` answered; an answer that is on record stays. */
export const withPatches = (row: CallIn<"running">, patched: Patches | undefined): CallIn<"running"> =>
  patched === undefined ? row : { ...row, body: { ...row.body, patches: { ...patched, ...row.body.patches } } };

/** When a row has to be looked at again, if nothing else happens before. What a body waits for passes wherever it is. */
export const dueOf = (row: CallRow): Deadline | undefined => {
  switch (row.phase) {
    case "resuming":
    case "no_executor":
    case "unknown":
    case "awaiting_approval":
      return row.body === undefined ? row.due : earliestDue(row.body.open, row.due);
    default:
      return "due" in row ? row.due : undefined;
  }
};

/** The effect of a changed row on the counts of its batch. */
export interface Change {
  readonly occupied: number;
  readonly completed: number;
}

/** Ends a completion key with its call: who comes late is told how. */
export const closeKey = (draft: Draft, { call }: CallRow, key: string, resolution: Resolution): void =>
  draft.raise({ type: "wait.close", key, waiter: { call: call.ref }, request: call.request, resolution });

/** Notes the last event of each stream of a body that is over. */
const finishStreams = (draft: Draft, { call }: CallRow, { streams }: BodyState): void => {
  for (const { name, last } of streams)
    draft.finished.push({ kind: "stream", id: streamId(call.ref, name), ...(last === undefined ? {} : { seq: last }) });
};

/** Cancels effects that were open before and are not in the new row. Steps need no clean-up. Gives back room in a link. */
const leave = (draft: Draft, before: CallRow, after: CallRow): void => {
  const open = bodyOf(before)?.open ?? [];
  const kept = bodyOf(after)?.open ?? [];
  const left = open === kept ? [] : open.filter((effect) => effect.kind !== "step" && !kept.includes(effect));
  if (left.length > 0) draft.raise({ type: "call.left", call: before.call.ref, effects: left });
  const room = bodyOf(before)?.room;
  if (room !== undefined && bodyOf(after)?.room === undefined) draft.raise({ type: "link.freed", to: room });
  const key = before.phase === "running" ? before.key : undefined;
  if (key !== undefined && isEnded(after)) closeKey(draft, before, key, { status: "cancelled" });
};

/** Removes all that leaves with a call: its streams, and the waits of the life that it has left. */
export const leaveOwn = (draft: Draft, before: CallRow, after: CallRow | undefined): void => {
  const body = bodyOf(before);
  const next = after === undefined ? undefined : bodyOf(after);
  if (body !== undefined && next === undefined) finishStreams(draft, before, body);
  if (body === undefined || body.waits.length === 0 || body.life.number === next?.life.number) return;
  const ended = next === undefined ? {} : { life: body.life.number };
  draft.raise({ type: "waits.leave", call: before.call.ref, ...ended, keys: body.waits });
};

/** Writes a row, with the deadline that it has now and did not have before. */
export const putCall = (draft: Draft, row: CallRow, before: CallRow | undefined): void => {
  const due = dueOf(row);
  const isNew = due !== undefined && !(before !== undefined && isSameDeadline(dueOf(before), due));
  draft.putCall(row, before, isNew ? due : undefined);
};

/** Writes a row in the place of another. */
export const place = (draft: Draft, before: CallRow, after: CallRow): Change => {
  putCall(draft, after, before);
  leave(draft, before, after);
  leaveOwn(draft, before, after);
  return {
    occupied: Number(occupies(after)) - Number(occupies(before)),
    completed: Number(after.phase === "completed") - Number(before.phase === "completed"),
  };
};

/** As `place`, and tells the batch. */
export const move = (draft: Draft, before: CallRow, after: CallRow): void => {
  const change = place(draft, before, after);
  const readied = after.phase === "ready" && (before.phase === "awaiting_approval" || before.phase === "no_tool");
  if (change.occupied === 0 && change.completed === 0 && !readied) return;
  const { batch, ref } = before.call;
  draft.raise({ type: "call.moved", batch, ...change, ...(readied ? { readied: ref } : {}) });
};

/** A call that a concern knows to be there. */
export const known = (draft: Draft, ref: CallRef): CallRow => {
  const row = draft.call(ref);
  if (row === undefined) throw new Invariant(`no call ${ref}`);
  return row;
};

const wrongPhase = (row: CallRow, wanted: string): Rejection =>
  reject("wrong_phase", `call \`${row.call.ref}\`: expected ${wanted}, found it ${row.phase}`);

/** The live call that an event names, in one of these phases. */
export const inPhase = <P extends CallPhase>(
  draft: Draft,
  ref: string,
  ...phases: readonly P[]
): CallIn<P> | Rejection => {
  const row = draft.call(ref);
  if (row === undefined) return reject("call_unknown", `no live call \`${ref}\``);
  return phases.includes(row.phase as P) ? (row as CallIn<P>) : wrongPhase(row, phases.join(" or "));
};

export const isRejection = (found: object): found is Rejection => "type" in found && found.type === "rejection";

/** Rejects an event of a run that is not the current one. */
export const problemOfRun = (
  row: CallIn<"running" | "resuming" | "suspended" | "no_executor">,
  { attempt, run }: { readonly attempt: number; readonly run: number },
): Rejection | undefined => {
  const { body } = row;
  if (attempt === body.attempt && run === body.run) return undefined;
  const expected = `attempt ${body.attempt}, run ${body.run}`;
  return reject("stale_run", `call \`${row.call.ref}\`: expected ${expected}, found attempt ${attempt}, run ${run}`);
};
