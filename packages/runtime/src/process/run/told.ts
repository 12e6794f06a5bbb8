/** What a host is told until it has it: again and again, with longer pauses, as long as the scope is here to tell it. */
import type { Event } from "@pawl/sansio-core";
import type { ScopeAccess } from "../work.ts";

const pauseMs = (tries: number): number => Math.min(60_000, 1000 * 2 ** tries);

export interface Telling {
  readonly key: string;
  readonly tell: () => Promise<void>;
  /** Recorded once the host has it. */
  readonly told: Event;
  readonly what: string;
}

export const tellHost = async (scope: ScopeAccess, { key, tell, told, what }: Telling): Promise<void> => {
  const { runner, platform } = scope;
  for (let tries = 0; !runner.isAbandoned && runner.state.outbox.has(key); tries++) {
    try {
      await tell();
      if (!runner.isAbandoned) runner.apply(told);
      return;
    } catch (thrown) {
      scope.report(what, thrown);
      await new Promise<void>((resolve) => void platform.later(pauseMs(tries), resolve));
    }
  }
};
