/** Deadlines of calls, and what passes with them. */
import { type Resolution, type ToolCallOutput, outputOfResolution } from "@pawl/tool-value";
import { type Deadline, type Due, Deadlines, isSameDeadline } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import type { State } from "../kernel/vocabulary.ts";
import type { Table } from "../kernel/table.ts";
import { neverCame } from "./recovery/absent-tool.ts";
import { nextAttempt, pauseOver } from "./launch.ts";
import { cancelledOf, complete, ending, project, unavailable } from "./finish.ts";
import type { CallIn, CallRow } from "./model.ts";
import { closeKey, dueOf, move } from "./row.ts";
import { expired } from "./approval.ts";
import { unhealed } from "./recovery/unknown.ts";

/** The output of a pending call that was resolved so; a timeout may end the turn. */
export const outputOfPending = ({ pending }: CallIn<"pending">, resolution: Resolution): ToolCallOutput => {
  const output = outputOfResolution(resolution);
  const fails = resolution.status === "timeout" && pending.on_timeout === "fail_turn";
  const { outcome } = output;
  return fails && outcome.status === "failure"
    ? { ...output, control: { type: "fail", failure: outcome.payload } }
    : output;
};

const timeOut = (draft: Draft, row: CallIn<"pending">): CallRow => {
  const terminal = { status: "timeout" } as const;
  closeKey(draft, row, row.key, terminal);
  return ending(draft, row, outputOfPending(row, terminal), row.durationMs);
};

/** A call's own deadline: its grace, its pause, its patience. All others are its effects'. */
const ownDue = (row: CallRow): Deadline | undefined => {
  if (row.phase === "running") return row.cancelled?.due;
  return row.phase !== "suspended" && "due" in row ? row.due : undefined;
};

const afterDue = (draft: Draft, row: CallRow): CallRow | undefined => {
  const own = ownDue(row);
  if (own === undefined || !isSameDeadline(own, dueOf(row))) return undefined;
  switch (row.phase) {
    case "requested":
      draft.raise({ type: "calls.prepare", batch: row.call.batch });
      return { ...row, due: undefined };
    case "ready":
      draft.raiseLaunch(row.call.batch);
      return { ...row, due: undefined };
    case "running":
      return complete(draft, row, { output: cancelledOf(draft, row), durationMs: 0 });
    case "resuming":
      return pauseOver(draft, row);
    case "backing_off":
      return nextAttempt(draft, row, row.body);
    case "no_executor":
      return ending(draft, row, unavailable(), draft.at - row.body.startedAt);
    case "no_tool":
      return project(draft, row, neverCame(row));
    case "pending":
      return timeOut(draft, row);
    case "awaiting_approval":
      return project(draft, row, expired);
    case "unknown":
      return unhealed(draft, row);
    default:
      return undefined;
  }
};

/** Returns all deadlines, from the rows alone. */
export const duesOf = (calls: Table<CallRow>): Due[] =>
  calls.rows().flatMap((row) => {
    const due = dueOf(row);
    return due === undefined ? [] : [{ at: due.at, birth: due.birth, key: row.call.ref }];
  });

const isTrueDue = (calls: Table<CallRow>, due: Due): boolean => {
  const row = calls.at(due.key);
  return row !== undefined && isSameDeadline(dueOf(row), due);
};

export const nextCallDue = ({ deadlines }: State): Due | undefined => deadlines.next;

/** Drops deadlines that no row has any more where they come first, and all at once where they are too many. */
export const tidyCallDues = (draft: Draft): void => {
  const { calls, deadlines } = draft.state;
  const isCrowded = deadlines.size > 4 * calls.size + 64;
  if (!draft.isFirstDueOpen && !isCrowded) return;
  draft.set("deadlines", isCrowded ? Deadlines.of(duesOf(calls)) : deadlines.settled((due) => isTrueDue(calls, due)));
  draft.openFirstDue(false);
};

/** A call's deadline has passed. */
const onDue = (draft: Draft, ref: string): void => {
  const row = draft.call(ref);
  if (row === undefined) return;
  const after = afterDue(draft, row);
  if (after !== undefined) move(draft, row, after);
  else draft.raise({ type: "effects.expire", call: row.call.ref });
};

/** Takes the first deadline off, which has passed. */
export const onCallDue = (draft: Draft, ref: string): void => {
  draft.set("deadlines", draft.state.deadlines.withoutNext());
  draft.openFirstDue(true);
  onDue(draft, ref);
};
