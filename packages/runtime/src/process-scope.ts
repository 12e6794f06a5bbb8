/** The log of a scope's own process, for bodies that wait for its events. */
import type { ProcessEvent } from "@pawl/sansio-core";
import { EffectError } from "./error.ts";
import { ProcessLog } from "./process-log.ts";
import type { Workplace } from "./process-work.ts";
import type { Watch } from "./watch.ts";

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(new EffectError("cancelled", "the call was cancelled"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });

/** Reads the log until the event is there; a longer log is read on from where it was. */
export const eventAfter = async (
  { scope, watch }: { readonly scope: Workplace; readonly watch: Watch },
  eventType: string,
  after: number,
  signal: AbortSignal,
): Promise<ProcessEvent> => {
  const log = new ProcessLog(scope.runner.id, scope.readLines);
  const stopped = aborted(signal);
  stopped.catch(() => undefined); // It is raced below; nobody else asks.
  for (;;) {
    const found = (await log.next()).find((event) => event.event_type === eventType && event.sequence > after);
    if (found !== undefined) return found;
    const isLonger = (): true | undefined =>
      (scope.runner.state.process?.sequence ?? 0) > log.sequence ? true : undefined;
    await Promise.race([watch.until(isLonger), stopped]);
    await scope.runner.settled();
  }
};
