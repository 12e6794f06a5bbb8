/** The log of a scope's own process, for bodies that wait for its events. */
import type { ProcessEvent } from "@pawl/sansio-core/driver";
import { EffectError } from "../error.ts";
import { ProcessLog } from "./log.ts";
import type { ScopeAccess } from "./work.ts";
import type { Watch } from "./watch.ts";

interface Port {
  readonly scope: ScopeAccess;
  readonly watch: Watch;
}

/** Resolves when there may be more to read. */
const longer = async ({ scope, watch }: Port, log: ProcessLog, signal: AbortSignal): Promise<void> => {
  const isLonger = (): boolean => (scope.runner.state.process?.sequence ?? 0) > log.sequence;
  const look = (): void => watch.look();
  signal.addEventListener("abort", look, { once: true });
  await watch
    .until(() => (signal.aborted || isLonger() ? true : undefined))
    .finally(() => signal.removeEventListener("abort", look));
  if (signal.aborted) throw new EffectError("cancelled", "the call was cancelled");
  await scope.runner.whenDurable();
};

/** Reads the log until the event is there; a longer log is read on from where it was. */
export const eventAfter = async (
  port: Port,
  eventType: string,
  after: number,
  signal: AbortSignal,
): Promise<ProcessEvent> => {
  const { runner, readLines } = port.scope;
  const log = new ProcessLog(runner.id, readLines);
  for (;;) {
    const found = (await log.next()).find((event) => event.event_type === eventType && event.sequence > after);
    if (found !== undefined) return found;
    await longer(port, log, signal);
  }
};
