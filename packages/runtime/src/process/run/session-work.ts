/** The tasks and schedules of one session, as its tools and its host see them. The task of a run shows the live state of that run. */
import type { Event, RejectionCode, State } from "@pawl/sansio-core";
import {
  type NewMessage,
  type NewSchedule,
  type NewTask,
  type Schedule,
  type ScheduleAnswer,
  type SpawnAnswer,
  type Task,
  type TaskMessage,
  type TaskRow,
  type TaskState,
  type TaskUpdate,
  isTerminal,
  listMessages,
  processScope,
} from "@pawl/sansio-core/driver";
import { Refused } from "../../error.ts";
import type { Journal } from "../../journal/journal.ts";
import { isStored, openState } from "../../scope/open-scope.ts";
import { record } from "../../scope/access.ts";
import type { ScopeRunner } from "../../scope/runner.ts";
import type { Ephemeral } from "../../session/observe/observation.ts";
import type { ScopeAccess } from "../work.ts";
import type { Watch } from "../scope-links.ts";
import { type LongWorkRequests, type RunRequest, runRequested } from "./request.ts";

/** The state of a scope, read without owning it. */
export interface Glimpse {
  readonly state: State;
  readonly isAlive: boolean;
}

/** A session in memory. */
export interface LiveWork {
  readonly scope: ScopeAccess;
  readonly asked: LongWorkRequests;
  readonly watch: Watch;
  readonly glimpse: (scope: string) => Promise<Glimpse>;
}

interface Watched {
  readonly runner: Pick<ScopeRunner, "state" | "isAbandoned">;
  readonly scopeLinks: { readonly tell: (observation: Ephemeral) => void };
}
type Open = Promise<Watched>;

/** Reads the state of a scope: from memory if it is open here, else from its log. Its owner counts as alive until its lease expires. */
const peek = async (journal: Journal, scope: string, open: Open | undefined): Promise<Glimpse> => {
  const session = await open?.catch(() => undefined); // Could not be opened: read its log.
  if (session !== undefined && !session.runner.isAbandoned) return { state: session.runner.state, isAlive: true };
  const { state } = await openState(journal, scope, {}, () => undefined);
  const lost = await journal.lost();
  return { state, isAlive: !lost.includes(state.scope.owner) };
};

/** Returns how a scope sees others, finds those below it, and shows observations to those who watch them. */
export const viewsOf = (journal: Journal, open: (scope: string) => Open | undefined) => ({
  glimpse: (of: string): Promise<Glimpse> => peek(journal, of, open(of)),
  awaiting: journal.awaitingApproval,
  isStored: (of: string): Promise<boolean> => isStored(journal, of),
  showIn: (of: string, said: Ephemeral): void =>
    void open(of)?.then(
      ({ scopeLinks }) => scopeLinks.tell(said),
      () => undefined, // Could not be opened, so nobody watches it.
    ),
});

export interface TaskFilter {
  readonly kind?: string;
  readonly state?: TaskState;
}

export interface MessageFilter {
  /** Limits the result to the newest messages; they come oldest first. */
  readonly limit?: number;
  /** Skips this message and all before it. */
  readonly after?: string;
}

/** Adds the live state of its run to a task, and when the owner of that run was last alive. */
const withRun = (task: Task, { state, isAlive }: Glimpse, now: number): Task => {
  const { background, scope, at } = state;
  const { run } = background;
  if (run === undefined) return { ...task, heartbeat_at: task.heartbeat_at ?? now };
  const progress = run.progress === undefined ? {} : { progress: run.progress };
  const heartbeat_at = isAlive ? Math.max(now, at) : at;
  return { ...task, state_detail: run.detail, ...progress, worker_id: scope.owner, heartbeat_at };
};

const rests = ({ background }: State, id: string): boolean => {
  const state = background.tasks.get(id)?.task.state;
  return state === undefined || isTerminal(state) || state === "awaiting_input";
};

/** Lists, updates and cancels the background runs, tasks and schedules of one session. */
export class SessionWork {
  readonly #live: () => Promise<LiveWork>;

  /** `live` opens the session again if it has left memory. */
  constructor(live: () => Promise<LiveWork>) {
    this.#live = live;
  }

  /** Returns the state of the session once all of it is durable. */
  async #state(): Promise<State> {
    const { runner } = (await this.#live()).scope;
    await runner.whenDurable();
    return runner.state;
  }

  async #record(event: Event, ...expected: readonly RejectionCode[]): Promise<void> {
    await record((await this.#live()).scope, event, ...expected);
  }

  /** Requests a background run. A repeated request finds the same run. */
  async spawn(request: RunRequest): Promise<SpawnAnswer> {
    const { asked, scope } = await this.#live();
    return asked.run(runRequested(request, scope.runner.state.scope.protocol), request.task);
  }

  async #seen({ task, run }: TaskRow): Promise<Task> {
    const { glimpse, scope } = await this.#live();
    if (run === undefined || isTerminal(task.state)) return task;
    return withRun(task, await glimpse(processScope(run.run)), scope.platform.now());
  }

  /** Lists tasks, oldest first. */
  async tasks({ kind, state }: TaskFilter = {}): Promise<readonly Task[]> {
    const { background } = await this.#state();
    const rows = background.tasks
      .values()
      .filter(({ task }) => (kind === undefined || task.kind === kind) && (state === undefined || task.state === state))
      .toSorted((a, b) => a.born - b.born || (a.task.id < b.task.id ? -1 : 1));
    return Promise.all(rows.map((row) => this.#seen(row)));
  }

  async task(id: string): Promise<Task | undefined> {
    const row = (await this.#state()).background.tasks.get(id);
    return row && this.#seen(row);
  }

  /** Lists the newest messages of a task. */
  async messages(id: string, filter: MessageFilter = {}): Promise<readonly TaskMessage[]> {
    return listMessages((await this.#state()).background.tasks.get(id)?.messages ?? [], filter);
  }

  /** Creates a task, or finds the one with its id. */
  async create(made: NewTask): Promise<Task> {
    await this.#record({ type: "task.created", task: made }, "task_exists");
    return this.#known(made.id);
  }

  async #known(id: string): Promise<Task> {
    const row = (await this.#state()).background.tasks.get(id);
    if (row === undefined) throw new Refused("task_unknown", `no task \`${id}\``);
    return this.#seen(row);
  }

  /** Updates a task and returns it. A stale update, or one of a task that has ended, changes nothing. */
  async update(id: string, update: TaskUpdate): Promise<Task> {
    await this.#record({ type: "task.updated", task: id, update }, "stale_attempt", "task_ended");
    return this.#known(id);
  }

  async message(message: NewMessage, expectedAttempt?: number): Promise<void> {
    const fence = expectedAttempt === undefined ? {} : { expected_attempt: expectedAttempt };
    await this.#record({ type: "task.messaged", message, ...fence }, "already_received");
  }

  /** Asks a task to end. Repeated, or after its end, this changes nothing. */
  async cancel(id: string): Promise<Task> {
    await this.#record({ type: "task.cancel_requested", task: id }, "already_cancelled", "task_ended");
    return this.#known(id);
  }

  /** Resolves with the task once it has ended, waits for input, or the time `until` has come. */
  async rested(id: string, until: number, signal?: AbortSignal): Promise<Task> {
    const { scope, watch } = await this.#live();
    let hasPassed = signal?.aborted === true;
    const pass = (): void => {
      hasPassed = true;
      watch.look();
    };
    const callOff = scope.platform.later(Math.max(0, until - scope.platform.now()), pass);
    signal?.addEventListener("abort", pass, { once: true });
    const over = (): void => {
      callOff();
      signal?.removeEventListener("abort", pass);
    };
    await watch.until(() => (hasPassed || rests(scope.runner.state, id) ? true : undefined)).finally(over);
    return this.#known(id);
  }

  /** Requests a schedule. A repeated request finds the same schedule. */
  async schedule(schedule: NewSchedule): Promise<ScheduleAnswer> {
    return (await this.#live()).asked.schedule(schedule);
  }

  /** Lists schedules, oldest first. */
  async schedules(): Promise<readonly Schedule[]> {
    const { schedules } = await this.#state();
    return schedules.rows
      .values()
      .filter(({ asked }) => asked?.isNew !== true)
      .toSorted((a, b) => a.born - b.born || (a.schedule.id < b.schedule.id ? -1 : 1))
      .map(({ schedule }) => schedule);
  }

  /** Cancels a schedule: it fires no more. */
  async cancelSchedule(id: string): Promise<void> {
    await this.#record({ type: "schedule.cancelled", schedule: id }, "schedule_ended");
  }
}
