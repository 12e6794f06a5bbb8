/** Processes as the host works with them: by their ids, wherever they live in this runtime. */
import { processScope } from "@pawl/sansio-core";
import { late } from "./late-part.ts";
import type { ProcessVerbs } from "./process-verbs.ts";
import { admittedId } from "./scope-name.ts";
import type { Session } from "./session.ts";

export class Processes {
  readonly #open: (scope: string) => Promise<Session>;
  readonly #has: (scope: string) => Promise<boolean>;

  constructor(open: (scope: string) => Promise<Session>, has: (scope: string) => Promise<boolean>) {
    this.#open = open;
    this.#has = has;
  }

  #with<A>(act: (verbs: ProcessVerbs) => Promise<A>): Promise<A> {
    return late.use((parts) => act(new parts.ProcessVerbs(this.#open, this.#has)));
  }

  /** The scope of a process, as others open a session. */
  async scope(id: string): Promise<Session> {
    return this.#open(processScope(admittedId("process", id)));
  }

  /** Makes a process, or finds the one that the same registration made. */
  readonly start: ProcessVerbs["start"] = (...of) => this.#with((verbs) => verbs.start(...of));
  readonly read: ProcessVerbs["read"] = (...of) => this.#with((verbs) => verbs.read(...of));
  /** Its end. When the signal is aborted the process is asked to end, and its real end is still awaited. */
  readonly await: ProcessVerbs["await"] = (...of) => this.#with((verbs) => verbs.await(...of));
  /** Asks it to end. The same reason again is the same request. */
  readonly cancel: ProcessVerbs["cancel"] = (...of) => this.#with((verbs) => verbs.cancel(...of));
  /** Ends it so. The same end again changes nothing. */
  readonly complete: ProcessVerbs["complete"] = (...of) => this.#with((verbs) => verbs.complete(...of));
  readonly append: ProcessVerbs["append"] = (...of) => this.#with((verbs) => verbs.append(...of));
  readonly signal: ProcessVerbs["signal"] = (...of) => this.#with((verbs) => verbs.signal(...of));
  readonly list: ProcessVerbs["list"] = (...of) => this.#with((verbs) => verbs.list(...of));
  /** Refuses unless the holder has all of them. */
  readonly validate: ProcessVerbs["validate"] = (...of) => this.#with((verbs) => verbs.validate(...of));
  readonly transfer: ProcessVerbs["transfer"] = (...of) => this.#with((verbs) => verbs.transfer(...of));
  readonly cancelAll: ProcessVerbs["cancelAll"] = (...of) => this.#with((verbs) => verbs.cancelAll(...of));
  /** Cancels what runs and is not to be kept. */
  readonly cancelUnreferenced: ProcessVerbs["cancelUnreferenced"] = (...of) =>
    this.#with((verbs) => verbs.cancelUnreferenced(...of));
  /** Ends a session: its calls are cancelled, its waits revoked, its handles go. Its processes live on. */
  readonly deleteSession: ProcessVerbs["deleteSession"] = (...of) => this.#with((verbs) => verbs.deleteSession(...of));
}
