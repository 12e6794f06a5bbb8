/** Answers to what a call asked for before its body ran, and after: hooks, checks, the tool's preparation, the projection. */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { EventOf } from "../kernel/event.ts";
import { afterEdit } from "./approve.ts";
import { complete, project } from "./finish.ts";
import { afterBeforeHook, afterHooks } from "./hook.ts";
import type { CallIn, CallRow } from "./model.ts";
import { afterPrepare } from "./park.ts";
import { inPhase, isRejection, move } from "./place.ts";
import { afterCheck } from "./prepare.ts";

type Answer = Rejection | undefined;

/** A call whose preparation waits for this answer of the outside's. */
const preparing = (draft: Draft, ref: string, waits: CallIn<"preparing">["waits"]): CallIn<"preparing"> | Rejection => {
  const row = inPhase(draft, ref, "preparing");
  if (isRejection(row) || row.waits === waits) return row;
  return reject("wrong_phase", `call \`${ref}\`: its preparation waits for ${row.waits}, not for ${waits}`);
};

export const prepared = (draft: Draft, before: CallIn<"preparing">, after: CallRow): undefined => {
  move(draft, before, after);
  if (after.phase !== "preparing") draft.raise({ type: "preparation.ended", batch: before.call.batch });
};

const onBeforeHook = (draft: Draft, event: EventOf<"hook.ran">): Answer => {
  const row = preparing(draft, event.call, "hook");
  return isRejection(row) ? row : prepared(draft, row, afterBeforeHook(draft, row, event.outcome));
};

const finishing = (draft: Draft, ref: string, waits: CallIn<"finishing">["waits"]): CallIn<"finishing"> | Rejection => {
  const row = inPhase(draft, ref, "finishing");
  if (isRejection(row) || row.waits === waits) return row;
  return reject("wrong_phase", `call \`${ref}\`: its end waits for the ${row.waits}, not for the ${waits}`);
};

const onAfterHook = (draft: Draft, event: EventOf<"hook.ran">): Answer => {
  const row = finishing(draft, event.call, "hook");
  if (isRejection(row)) return row;
  move(draft, row, project(draft, row, afterHooks(row.output, event.outcome), row.durationMs));
  return undefined;
};

const onEditChecked = (draft: Draft, row: CallIn<"awaiting_approval">, event: EventOf<"args.checked">): Answer => {
  const { edited } = row.approval;
  if (edited === undefined) return reject("wrong_phase", `call \`${event.call}\`: no edited arguments are checked`);
  move(draft, row, afterEdit(draft, row, edited.args, event));
  return undefined;
};

export const onPrepared = (draft: Draft, event: EventOf<"call.prepared">): Answer => {
  const row = preparing(draft, event.call, "prepare");
  return isRejection(row) ? row : prepared(draft, row, afterPrepare(draft, row, event.preparation));
};

/** The answer to a check is a preparing call's, or that of arguments which a person edited. */
export const onArgsChecked = (draft: Draft, event: EventOf<"args.checked">): Answer => {
  const row = inPhase(draft, event.call, "preparing", "awaiting_approval");
  if (isRejection(row)) return row;
  if (row.phase === "awaiting_approval") return onEditChecked(draft, row, event);
  const waiting = preparing(draft, event.call, "args");
  return isRejection(waiting) ? waiting : prepared(draft, waiting, afterCheck(draft, waiting, event.verdict));
};

export const onHookRan = (draft: Draft, event: EventOf<"hook.ran">): Answer =>
  event.phase === "before" ? onBeforeHook(draft, event) : onAfterHook(draft, event);

export const onProjected = (draft: Draft, event: EventOf<"result.projected">): Answer => {
  const row = finishing(draft, event.call, "projection");
  if (isRejection(row)) return row;
  move(draft, row, complete(draft, row, row, event.parts ?? undefined)); // In a reply `null` counts as absent.
  return undefined;
};
