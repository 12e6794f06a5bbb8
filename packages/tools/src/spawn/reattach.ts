/** Whether a run that lost its owner may be begun again, and how; and which tasks are looked at at all. */
import type { Json, JsonObject } from "@pawl/tool-value";
import { type Task, applyTaskUpdate, isTerminal, orphaned, updateOf } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { argumentsOf } from "../tool.ts";
import { isObject } from "../result.ts";
import type { Target } from "./validate.ts";

export interface ReattachPlace {
  readonly files: boolean;
  readonly tasks: boolean;
  /** By default the registry of the session's own tools. */
  readonly resolve: (tool: string) => Target | undefined;
  readonly isWorkerFull: boolean;
  readonly isSessionFull: boolean;
}

export interface Reattach {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly signal: boolean;
}

const declined = (message: string): E.Either<string, never> => E.left(`Tool execution error: ${message}`);

const misfitOfTarget = (tool: string, target: Target | undefined): string | undefined => {
  if (target === undefined) return `tool '${tool}' not found in built-in registry; cannot re-attach`;
  if (!target.hasExecutor) return `tool '${tool}' does not support background execution; cannot re-attach`;
  const isSafe = target.hints.idempotent === true || target.hints.readonly === true;
  return isSafe ? undefined : `tool '${tool}' is not idempotent or readonly; re-attach declined`;
};

const fullness = ({ isWorkerFull, isSessionFull }: ReattachPlace): string | undefined => {
  if (isWorkerFull) return "worker background run limit reached; re-attach deferred";
  return isSessionFull ? "session background run limit reached; re-attach deferred" : undefined;
};

/** What is run again for a task, or why nothing is. What the task once said of its tool is not believed. */
export const decideReattach = (spec: Json, place: ReattachPlace): E.Either<string, Reattach> => {
  if (!place.files) return declined("file store not available; cannot re-attach background run");
  if (!place.tasks) return declined("task registry not available; cannot re-attach background run");
  const { tool, arguments: args = {}, signal_on_completion: signal } = isObject(spec) ? spec : {};
  if (typeof tool !== "string" || tool === "") {
    return declined("background_tool spec missing 'tool' field; cannot re-attach");
  }
  const misfit = misfitOfTarget(tool, place.resolve(tool)) ?? fullness(place);
  return misfit === undefined
    ? E.right({ tool, arguments: argumentsOf(args), signal: signal !== false })
    : declined(misfit);
};

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
