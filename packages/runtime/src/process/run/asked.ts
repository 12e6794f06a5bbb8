/** Those who asked a session for a run or a schedule, and wait for what becomes of it: asked again, it is the same one. */
import type { EventOf, Rejection, State } from "@pawl/sansio-core";
import type { NewSchedule, ScheduleAnswer, SpawnAnswer } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import type { ScopeAccess } from "../work.ts";
import { Refused } from "../../error.ts";
import { decodedEvent } from "../../scope/round-trip.ts";

type RunRequested = EventOf<"run.requested">;

/** What the state says became of it; undefined while that is open. */
const spawned = ({ background }: State, run: string): SpawnAnswer | undefined => {
  const row = background.tasks.values().find((task) => task.run?.run === run);
  return row === undefined ? undefined : { status: "started", task: row.task.id };
};

const created = ({ schedules, background }: State, id: string): ScheduleAnswer | undefined => {
  const row = schedules.rows.get(id);
  if (row === undefined || row.asked?.isNew === true) return undefined;
  const { schedule, monitor } = row;
  const isShown = monitor !== undefined && background.tasks.get(monitor.task)?.schedule === id;
  return { status: "created", schedule, task: isShown ? monitor.task : null };
};

interface Waiting<A> {
  readonly resolve: (answer: A) => void;
  readonly reject: (error: Error) => void;
}

class Answers<A> {
  readonly #waiting = new Map<string, readonly Waiting<A>[]>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** The next answer for it. */
  next(id: string): Promise<A> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), { resolve, reject }]);
    });
  }

  give(id: string, answer: A): void {
    const waiting = this.#waiting.get(id) ?? [];
    this.#waiting.delete(id);
    for (const { resolve } of waiting) resolve(answer);
  }

  lose(error: Error): void {
    const waiting = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}

export class LongWorkAsked {
  readonly #scope: ScopeAccess;
  readonly runs = new Answers<SpawnAnswer>();
  readonly schedules = new Answers<ScheduleAnswer>();

  constructor(scope: ScopeAccess) {
    this.#scope = scope;
  }

  get isEmpty(): boolean {
    return this.runs.isEmpty && this.schedules.isEmpty;
  }

  lose(error: Error): void {
    this.runs.lose(error);
    this.schedules.lose(error);
  }

  async #refuse({ code, message }: Rejection): Promise<never> {
    await this.#scope.runner.whenDurable();
    throw new Refused(code, message);
  }

  /** Asks for a run. One that has ended long since was started all the same. */
  async run(event: RunRequested, task: string): Promise<SpawnAnswer> {
    const { runner, finished } = this.#scope;
    const { id } = event.registration;
    if ((await finished.find("task", task)) !== undefined) return { status: "started", task };
    const told = runner.apply(decodedEvent(event));
    if (E.isLeft(told) && told.left.code !== "run_exists") return this.#refuse(told.left);
    const known = spawned(runner.state, id);
    if (known === undefined) return this.runs.next(id);
    await runner.whenDurable();
    return known;
  }

  /** Asks for a schedule; one too many is refused in words for whoever asked. */
  async schedule(schedule: NewSchedule): Promise<ScheduleAnswer> {
    const { runner } = this.#scope;
    const told = runner.apply(decodedEvent({ type: "schedule.requested", schedule }));
    if (E.isLeft(told) && told.left.code === "too_many_schedules") {
      await runner.whenDurable();
      return { status: "refused", message: told.left.message };
    }
    if (E.isLeft(told) && told.left.code !== "schedule_exists") return this.#refuse(told.left);
    const known = created(runner.state, schedule.id);
    if (known === undefined) return this.schedules.next(schedule.id);
    await runner.whenDurable();
    return known;
  }
}
