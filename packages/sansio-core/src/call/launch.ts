/** Starting bodies: the first run, the next attempt, a run after a loss. */
import { PersistentMap } from "../kernel/persistent-map.ts";
import { callableById, recoveryOf } from "../catalog/model.ts";
import { deadlineIn } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import { observeStart, project, unavailable } from "./finish.ts";
import { type BodyState, type CallIn, type CallRow, type ResumeCause, type Stop, runningRow } from "./model.ts";
import { maxAttempts } from "./attempt.ts";
import { unapproved } from "./park.ts";

/** Asks for a body to be run. */
export const execute = (draft: Draft, row: CallRow, body: BodyState, cause?: ResumeCause): void => {
  const { manifest, attempt, run, payload } = body;
  draft.emit({
    type: "tool.execute",
    call: row.call.ref,
    attempt,
    run,
    tool_id: manifest.id,
    tool: row.tool,
    args: row.args,
    payload,
    max_attempts: maxAttempts(manifest.retry_policy),
    recovery: recoveryOf(manifest),
    ...(cause === undefined ? {} : { cause }),
  });
};

const freshBody = (draft: Draft, { manifest, payload, argsHash }: CallIn<"ready">): BodyState => ({
  manifest,
  payload,
  argsHash,
  attempt: 1,
  run: 1,
  resumes: 0,
  startedAt: draft.at,
  open: [],
  settled: PersistentMap.empty(),
});

export const running = (draft: Draft, row: CallRow, body: BodyState): CallIn<"running"> =>
  runningRow(row, body, { owner: draft.scope.owner, key: undefined, cancelled: undefined });

/** The first run of a call that is ready; its tool may have gone since, or want a person's word now. */
export const launch = (draft: Draft, row: CallIn<"ready">): CallRow => {
  const manifest = callableById(draft.catalog, row.manifest.id);
  if (manifest === undefined) return project(draft, row, unavailable());
  const isAsked = row.manifest.policy === "requires_approval";
  if (manifest.policy === "requires_approval" && !isAsked) return project(draft, row, unapproved);
  const body = freshBody(draft, { ...row, manifest });
  observeStart(draft, row);
  const next = running(draft, row, body);
  execute(draft, next, body);
  return next;
};

/** A call whose body is to start again, at once or after a pause. */
export const resuming = (
  draft: Draft,
  row: CallRow,
  again: {
    readonly body: BodyState;
    readonly cause: ResumeCause;
    readonly pauseMs?: number;
    readonly cancelled?: Stop | undefined;
  },
): CallIn<"resuming"> => {
  const body = { ...again.body, run: again.body.run + 1 };
  const { cause, pauseMs = 0, cancelled } = again;
  const { call, tool, args, observed } = row;
  const due = pauseMs > 0 ? deadlineIn(draft, pauseMs) : undefined;
  if (due === undefined) execute(draft, row, body, cause);
  return { call, tool, args, observed, phase: "resuming", body, cause, due, cancelled };
};
