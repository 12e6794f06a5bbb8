/** What becomes of a task that nobody speaks for: which are looked at at all, and how each ends or goes on. */
import { type Task, applyTaskUpdate, isTerminal, orphaned, updateOf } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";

/** The lease of a run's owner, in seconds, and how often a lost run is begun. */
export const leaseSeconds = 300;
const mostAttempts = 3;

/** A task that nobody has spoken for longer than the lease; one that nobody ever spoke for is none. */
export const isCandidate = ({ state }: Pick<Task, "state">, silentForSeconds: number | undefined): boolean =>
  !isTerminal(state) && silentForSeconds !== undefined && silentForSeconds > leaseSeconds;

const failedOrphan = (task: Task, reason: string | undefined, now: number): Task =>
  applyTaskUpdate(task, { ...updateOf(orphaned(reason), undefined), expected_attempt: task.attempt }, now);

/** What becomes of a task whose owner is lost. `start` begins it again, or says why not. */
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
  if (!canReattach || task.attempt >= mostAttempts) {
    return applyTaskUpdate(task, { ...updateOf(orphaned(), undefined), ...fence }, now);
  }
  const update = { worker_id: "reaper", heartbeat_at: now, state_detail: `re-attached (attempt ${next})`, ...fence };
  const attached = applyTaskUpdate(task, update, now);
  const started = start();
  return E.isLeft(started) ? failedOrphan(attached, started.left, now) : attached;
};
