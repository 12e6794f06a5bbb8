/**
 * The tries of a step. A try that fails is on record while others follow, and so is the time until the next: the core
 * counts it from the event, and a body that runs again meanwhile waits for the rest of it.
 *
 *   run, try n ─┬─▶ step.settled: its result, or the error of its last try
 *      ▲        └─▶ step.failed ─▶ delay ─┐
 *      └─── step.run, try n + 1 ◀─────────┘
 *
 * Tries count in each attempt, and a crash repeats the one that ran. A try that ran out of time may succeed all the same:
 * its success settles the step while that is open, in a later try too. Its failure is nobody's by then.
 */
import { recorded } from "../recovery/owner-lost.ts";
import { type OpenEffect, firstTry } from "./effect.ts";
import { resuming } from "../launch.ts";
import type { CallIn, CallRow } from "../model.ts";
import { bodyOf, earliestDue, inPhase, isRejection, known, problemOfRun, putCall } from "../row.ts";
import { type Bodied, endEffect, openEffect, settleAll, withBody } from "./settle.ts";
import { deadlineIn, isSameDeadline } from "../../kernel/deadline.ts";
import type { Draft } from "../../kernel/draft.ts";
import { type Rejection, reject } from "../../kernel/error.ts";
import { missingRule } from "../../kernel/protocol.ts";
import type { EventOf, SignalOf } from "../../kernel/vocabulary.ts";

type Reported = EventOf<"step.settled" | "step.failed">;

/** The step that a running body reports of. */
const reported = (
  draft: Draft,
  event: Reported,
): { readonly row: CallIn<"running">; readonly effect: OpenEffect } | Rejection => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const effect = problemOfRun(row, event) ?? openEffect(row, event.key, "step");
  return "type" in effect ? effect : { row, effect };
};

const wrongTry = ({ call, key }: Reported, wanted: string, found: number): Rejection =>
  reject("stale_try", `call \`${call}\`: step \`${key}\`: expected ${wanted}, found try ${found}`);

/** Refuses the end of a try that has not begun, and the failure of one that another has followed. */
const problemOfTry = (effect: OpenEffect, event: Reported): Rejection | undefined => {
  const now = effect.try ?? firstTry;
  const found = event.try ?? firstTry;
  const begun = effect.due === undefined ? now : now - 1;
  if (found > begun) return wrongTry(event, `try ${begun} at most`, found);
  const isSuccess = event.type === "step.settled" && event.result.status === "ok";
  return found === now || isSuccess ? undefined : wrongTry(event, `a failure of try ${now}`, found);
};

/** Refuses what a step threw where the protocol has no place for it. */
const problemOfThrown = (draft: Draft, { result }: EventOf<"step.settled">): Rejection | undefined =>
  result.status === "err" && result.error.thrown !== undefined
    ? missingRule(draft.scope.protocol, "kept_values", "what a step threw")
    : undefined;

export const onStepSettled = (draft: Draft, event: EventOf<"step.settled">): Rejection | undefined => {
  const found = reported(draft, event);
  if ("type" in found) return found;
  const { row, effect } = found;
  const problem = problemOfTry(effect, event) ?? problemOfThrown(draft, event);
  if (problem !== undefined) return problem;
  putCall(draft, settleAll(draft, row, effect, { status: event.result.status, value: draft.seq }), row);
  return undefined;
};

const replaced = (row: Bodied, before: OpenEffect, after: OpenEffect): Bodied => {
  const open = row.body.open.map((effect) => (effect === before ? after : effect));
  return withBody(row, { ...row.body, open });
};

/** Asks a running body for the try that the step has come to. */
const run = (draft: Draft, { call, body }: CallIn<"running">, { key, recovery = "again", try: number }: OpenEffect) =>
  draft.emit({
    type: "step.run",
    call: call.ref,
    attempt: body.attempt,
    run: body.run,
    key,
    recovery,
    ...(number === undefined ? {} : { try: number }),
  });

/** Its error is on record; the next try is due, or begins at once. */
export const onStepFailed = (draft: Draft, event: EventOf<"step.failed">): Rejection | undefined => {
  const found = reported(draft, event);
  if ("type" in found) return found;
  const { row, effect } = found;
  const { call, key } = event;
  if (effect.recovery === "once")
    return reject("wrong_phase", `call \`${call}\`: step \`${key}\` may run only once, and has no other try`);
  const problem = problemOfTry(effect, event);
  if (problem !== undefined) return problem;
  const next = { ...effect, try: event.try + 1 };
  const { body } = row;
  const after = event.retry_in_ms === 0 ? next : { ...next, due: deadlineIn(draft, event.retry_in_ms) };
  putCall(draft, replaced({ ...row, body: recorded(draft, body, body.open) }, effect, after), row);
  if (after === next) run(draft, row, next);
  return undefined;
};

/** The delay of a step is over. Where no run is there to try it again, the next one asks. */
const beginTry = (draft: Draft, row: Bodied, effect: OpenEffect): CallRow => {
  const { due: _, ...begun } = effect;
  const after = replaced(row, effect, begun);
  if (after.phase === "running") run(draft, after, begun);
  return after.phase === "suspended" ? resuming(draft, after, { body: after.body, cause: "suspended" }) : after;
};

/** The earliest of a body's sleeps, waits and delays is over. */
export const onEffectsExpire = (draft: Draft, { call }: SignalOf<"effects.expire">): void => {
  const row = known(draft, call);
  const open = bodyOf(row)?.open ?? [];
  const due = earliestDue(open);
  const first = open.find((effect) => effect.due !== undefined && isSameDeadline(effect.due, due));
  if (first === undefined || due === undefined || due.at > draft.at) return;
  if (first.kind === "step") return putCall(draft, beginTry(draft, row as Bodied, first), row);
  if (first.wait !== undefined)
    draft.raise({ type: "wait.leave", key: first.wait, waiter: { call, effect: first.key } });
  endEffect(draft, call, first.key, { status: first.kind === "wait" ? "err" : "ok", value: draft.seq });
};
