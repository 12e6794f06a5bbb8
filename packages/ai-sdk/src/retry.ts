/** Asks a model again while its provider is busy, within one step: an error that leaves the step is on record for good. */
import { askingAgain, pause, pauseAfter, retryAfterMs } from "@pawl/runtime/driver";

export interface Retrying {
  /** Requests for one answer, the first one counted. Default: 5. */
  readonly attempts?: number;
  /** The pause after the first; each further one is twice as long. Default: 500. */
  readonly firstDelayMs?: number;
  /** A provider that wants a longer pause has failed. Default: 60,000. */
  readonly maxDelayMs?: number;
}

interface Busy {
  readonly isRetryable?: boolean;
  readonly responseHeaders?: { readonly [name: string]: string | undefined };
}

export const askWithRetries = async <A>(
  ask: () => PromiseLike<A>,
  signal: AbortSignal,
  retry: Retrying,
): Promise<A> => {
  const again = askingAgain(retry);
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (thrown) {
      const busy = (thrown ?? {}) as Busy;
      const delayMs = retryAfterMs((name) => busy.responseHeaders?.[name]) ?? pauseAfter(attempt, again);
      const isLast = attempt >= again.attempts || delayMs > again.maxDelayMs;
      if (busy.isRetryable !== true || isLast || signal.aborted) throw thrown;
      await pause(delayMs, signal);
    }
  }
};
