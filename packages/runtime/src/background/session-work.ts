/** The long work of one session, for its tools and its host: tasks, background runs, schedules. */
import { late } from "../late-part.ts";
import type { LiveWork, LongWorkVerbs } from "./long-work-verbs.ts";

export class SessionWork {
  readonly #live: () => Promise<LiveWork>;

  /** `live`: the session, opened again where it has left memory. */
  constructor(live: () => Promise<LiveWork>) {
    this.#live = live;
  }

  #with<A>(act: (verbs: LongWorkVerbs) => Promise<A>): Promise<A> {
    return late.use((parts) => act(new parts.LongWorkVerbs(this.#live)));
  }

  /** Asks for a background run. The same run again is the one that there is. */
  readonly spawn: LongWorkVerbs["spawn"] = (...of) => this.#with((verbs) => verbs.spawn(...of));
  /** Oldest first. */
  readonly tasks: LongWorkVerbs["tasks"] = (...of) => this.#with((verbs) => verbs.tasks(...of));
  readonly task: LongWorkVerbs["task"] = (...of) => this.#with((verbs) => verbs.task(...of));
  /** The newest messages of a task. */
  readonly messages: LongWorkVerbs["messages"] = (...of) => this.#with((verbs) => verbs.messages(...of));
  /** Makes a task, or finds the one that has its id. */
  readonly create: LongWorkVerbs["create"] = (...of) => this.#with((verbs) => verbs.create(...of));
  /** The task afterwards; an update that is dropped leaves it as it was. */
  readonly update: LongWorkVerbs["update"] = (...of) => this.#with((verbs) => verbs.update(...of));
  readonly message: LongWorkVerbs["message"] = (...of) => this.#with((verbs) => verbs.message(...of));
  /** Asks a task to end. The first time counts; one that is over stays as it is. */
  readonly cancel: LongWorkVerbs["cancel"] = (...of) => this.#with((verbs) => verbs.cancel(...of));
  /** The task once it is over, or waits for input, or so much time has passed. */
  readonly rested: LongWorkVerbs["rested"] = (...of) => this.#with((verbs) => verbs.rested(...of));
  /** Asks for a schedule. The same one again is the one that there is. */
  readonly schedule: LongWorkVerbs["schedule"] = (...of) => this.#with((verbs) => verbs.schedule(...of));
  /** Oldest first. */
  readonly schedules: LongWorkVerbs["schedules"] = (...of) => this.#with((verbs) => verbs.schedules(...of));
  /** It fires no more. */
  readonly cancelSchedule: LongWorkVerbs["cancelSchedule"] = (...of) =>
    this.#with((verbs) => verbs.cancelSchedule(...of));
}
