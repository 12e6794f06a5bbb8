/** The reaper of orphaned tasks: a task without a heartbeat is started again or fails. */
import { type Task, applyTaskUpdate, isTerminal, orphaned, updateOf } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";

/** A task is orphaned after so many seconds without a heartbeat. */
export const leaseSeconds = 300;
const maxAttempts = 3;

/** Returns true for a task whose last heartbeat is older than the lease. A task that never had one is no candidate. */
export const isCandidate = ({ state }: Pick<Task, "state">, silentForSeconds: number | undefined): boolean =>
  !isTerminal(state) && silentForSeconds !== undefined && silentForSeconds > leaseSeconds;

const failedOrphan = (task: Task, reason: string | undefined, now: number): Task =>
  applyTaskUpdate(task, { ...updateOf(orphaned(reason), undefined), expected_attempt: task.attempt }, now);

/** Starts an orphaned task again, or fails it. `start` returns the reason if it cannot start the task. */
export const reap = (
  task: Task,
  {
    canReattach,
    start,
    now,
  }: { readonly canReattach: boolean; readonly start: () => E.Either<string, void>; readonly now: number },
): Task => {
  const next = task.attempt + 1;
  const fence = { expected_attempt: task.attempt, increment_attempt: true };
  if (!canReattach || task.attempt >= maxAttempts) {
    return applyTaskUpdate(task, { ...updateOf(orphaned(), undefined), ...fence }, now);
  }
  const update = { worker_id: "reaper", heartbeat_at: now, state_detail: `re-attached (attempt ${next})`, ...fence };
  const attached = applyTaskUpdate(task, update, now);
  const started = start();
  return E.isLeft(started) ? failedOrphan(attached, started.left, now) : attached;
};
