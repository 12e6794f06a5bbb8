/** Bodies that only wait are dropped, and start again when something comes. */
import { recoveryOf } from "../catalog/model.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { EventOf } from "../kernel/event.ts";
import type { OpenEffect } from "./effect-model.ts";
import type { CallRef } from "../kernel/ids.ts";
import { cancelNow } from "./cancel.ts";
import { type BodyState, type CallIn, type CallRow, earliestDue } from "./model.ts";
import { inPhase, isRejection, misfitOfRun, move } from "./place.ts";

const isCleanup = ({ kind }: OpenEffect): boolean => kind === "cleanup";

const isSuspendable = ({ manifest, open }: BodyState): boolean =>
  recoveryOf(manifest) === "rerunnable" &&
  !open.every(isCleanup) &&
  open.every(({ kind }) => kind === "wait" || kind === "sleep" || kind === "select" || kind === "cleanup");

/** What is due at an event passes before it; then the body has not heard yet what it would sleep over. */
const isJustAnswered = (draft: Draft, call: CallRef): boolean =>
  draft.commands.some((command) => command.type === "step.answer" && command.call === call);

export const onSuspended = (draft: Draft, event: EventOf<"call.suspended">): Rejection | undefined => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const misfit = misfitOfRun(row, event);
  if (misfit !== undefined) return misfit;
  if (event.parked !== undefined) return park(draft, row, event.parked);
  if (row.cancelled !== undefined || !isSuspendable(row.body)) {
    return reject(
      "wrong_phase",
      `call \`${event.call}\` may not be suspended: it waits for more than waits and sleeps`,
    );
  }
  if (isJustAnswered(draft, row.call.ref))
    return reject("wrong_phase", `call \`${event.call}\` may not be suspended: it has an answer to hear`);
  move(draft, row, suspended(row, row.body));
  return undefined;
};

const suspended = ({ call, tool, args, observed }: CallRow, body: BodyState): CallIn<"suspended"> => ({
  call,
  tool,
  args,
  observed,
  phase: "suspended",
  body,
  due: earliestDue(body.open),
});

/** A body that has ended and is to run again does so whatever its recovery; all else is left, but what it does when it is cancelled. */
const park = (draft: Draft, row: CallIn<"running">, key: string): Rejection | undefined => {
  const wait = row.body.open.find((effect) => effect.key === key && effect.kind === "wait");
  if (wait === undefined) return reject("not_a_waiter", `call \`${row.call.ref}\` does not wait under \`${key}\``);
  const open = row.body.open.filter((effect) => effect === wait || isCleanup(effect));
  move(draft, row, row.cancelled === undefined ? suspended(row, { ...row.body, open }) : cancelNow(draft, row));
  return undefined;
};
