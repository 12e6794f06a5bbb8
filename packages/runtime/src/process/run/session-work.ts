/** The long work of one session, as its tools and its host see it: tasks with what is known of their runs, schedules. */
import type { Event, State } from "@pawl/sansio-core";
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
import * as E from "fp-ts/lib/Either.js";
import { Refused } from "../../error.ts";
import { decodedEvent } from "../../scope/round-trip.ts";
import type { ScopeAccess } from "../work.ts";
import type { Watch } from "../watch.ts";
import type { LongWorkAsked } from "./asked.ts";
import { type RunRequest, runRequested } from "./request.ts";

/** A scope as it stands, wherever it lives. */
export interface Glimpse {
  readonly state: State;
  /** Its owner is alive. */
  readonly isAlive: boolean;
}

/** A session that is in memory. */
export interface LiveWork {
  readonly scope: ScopeAccess;
  readonly asked: LongWorkAsked;
  readonly watch: Watch;
  readonly glimpse: (scope: string) => Promise<Glimpse>;
}

export interface TaskFilter {
  readonly kind?: string;
  readonly state?: TaskState;
}

export interface MessageFilter {
  /** So many of the newest, oldest first. */
  readonly limit?: number;
  /** Only those after this one. */
  readonly after?: string;
}

/** What the run of a task says of itself, and when its owner was alive last. */
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

  /** `live`: the session, opened again where it has left memory. */
  constructor(live: () => Promise<LiveWork>) {
    this.#live = live;
  }

  /** The session's state, once all of it is durable. */
  async #state(): Promise<State> {
    const { runner } = (await this.#live()).scope;
    await runner.whenDurable();
    return runner.state;
  }

  async #record(event: Event, isThere?: string): Promise<void> {
    const { runner } = (await this.#live()).scope;
    const told = runner.apply(decodedEvent(event));
    await runner.whenDurable();
    if (E.isLeft(told) && told.left.code !== isThere) throw new Refused(told.left.code, told.left.message);
  }

  /** Asks for a background run. The same run again is the one that there is. */
  async spawn(request: RunRequest): Promise<SpawnAnswer> {
    return (await this.#live()).asked.run(runRequested(request), request.task);
  }

  async #seen({ task, run }: TaskRow): Promise<Task> {
    const { glimpse, scope } = await this.#live();
    if (run === undefined || isTerminal(task.state)) return task;
    return withRun(task, await glimpse(processScope(run.run)), scope.platform.now());
  }

  /** Oldest first. */
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

  /** The newest messages of a task. */
  async messages(id: string, filter: MessageFilter = {}): Promise<readonly TaskMessage[]> {
    return listMessages((await this.#state()).background.tasks.get(id)?.messages ?? [], filter);
  }

  /** Makes a task, or finds the one that has its id. */
  async create(made: NewTask): Promise<Task> {
    await this.#record({ type: "task.created", task: made }, "task_exists");
    return this.#known(made.id);
  }

  async #known(id: string): Promise<Task> {
    const row = (await this.#state()).background.tasks.get(id);
    if (row === undefined) throw new Refused("task_unknown", `no task \`${id}\``);
    return this.#seen(row);
  }

  /** The task afterwards; an update that is dropped leaves it as it was. */
  async update(id: string, update: TaskUpdate): Promise<Task> {
    const { runner } = (await this.#live()).scope;
    const told = runner.apply(decodedEvent({ type: "task.updated", task: id, update }));
    await runner.whenDurable();
    const isDropped = E.isLeft(told) && (told.left.code === "stale_attempt" || told.left.code === "task_ended");
    if (E.isLeft(told) && !isDropped) throw new Refused(told.left.code, told.left.message);
    return this.#known(id);
  }

  async message(message: NewMessage, expectedAttempt?: number): Promise<void> {
    const fence = expectedAttempt === undefined ? {} : { expected_attempt: expectedAttempt };
    await this.#record({ type: "task.messaged", message, ...fence }, "already_received");
  }

  /** Asks a task to end. The first time counts; one that is over stays as it is. */
  async cancel(id: string): Promise<Task> {
    const { runner } = (await this.#live()).scope;
    const told = runner.apply(decodedEvent({ type: "task.cancel_requested", task: id }));
    await runner.whenDurable();
    const isAsked = E.isLeft(told) && (told.left.code === "already_cancelled" || told.left.code === "task_ended");
    if (E.isLeft(told) && !isAsked) throw new Refused(told.left.code, told.left.message);
    return this.#known(id);
  }

  /** The task once it is over, or waits for input, or so much time has passed. */
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

  /** Asks for a schedule. The same one again is the one that there is. */
  async schedule(schedule: NewSchedule): Promise<ScheduleAnswer> {
    return (await this.#live()).asked.schedule(schedule);
  }

  /** Oldest first. */
  async schedules(): Promise<readonly Schedule[]> {
    const { schedules } = await this.#state();
    return schedules.rows
      .values()
      .filter(({ asked }) => asked?.isNew !== true)
      .toSorted((a, b) => a.born - b.born || (a.schedule.id < b.schedule.id ? -1 : 1))
      .map(({ schedule }) => schedule);
  }

  /** It fires no more. */
  async cancelSchedule(id: string): Promise<void> {
    await this.#record({ type: "schedule.cancelled", schedule: id }, "schedule_ended");
  }
}
