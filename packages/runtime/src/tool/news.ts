/** A change of the tools is told to the scopes that are in memory: once for all changes of a turn. */
import { ScopeLost } from "../error.ts";
import type { Platform } from "../platform.ts";
import type { Registry } from "./registry.ts";
import type { Session } from "../session/session.ts";

/** A scope that is lost meanwhile hears of the tools when it is opened again. */
const lostWithItsScope = (thrown: unknown): void => {
  if (!(thrown instanceof ScopeLost)) throw thrown;
};

export class ToolNews {
  readonly #registry: Registry;
  #isOnItsWay = false;

  constructor(registry: Registry, platform: Platform, open: ReadonlyMap<string, Promise<Session>>) {
    this.#registry = registry;
    registry.watch(() => {
      if (this.#isOnItsWay) return;
      this.#isOnItsWay = true;
      platform.nextTurn(() => {
        this.#isOnItsWay = false;
        for (const opening of open.values()) opening.then((session) => this.tell(session)).catch(lostWithItsScope);
      });
    });
  }

  /** A process keeps the tools that its environment had. */
  async tell(session: Session): Promise<void> {
    if (!session.runner.id.startsWith("process:")) await session.publish(this.#registry.catalog());
  }
}
