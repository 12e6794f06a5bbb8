/** Asks a model again while its provider is busy, within one step: an error that leaves the step is on record for good. */

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

/** Reads how long a provider wants to be left alone. */
const wantedMs = ({ responseHeaders = {} }: Busy): number | undefined => {
  const ms = Number(responseHeaders["retry-after-ms"] ?? Number.NaN);
  if (ms >= 0) return ms;
  const after = responseHeaders["retry-after"];
  if (after === undefined) return undefined;
  const wanted = Number.isNaN(Number(after)) ? Date.parse(after) - Date.now() : Number(after) * 1000;
  return Number.isNaN(wanted) ? undefined : Math.max(0, wanted);
};

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });

export const askWithRetries = async <A>(
  ask: () => PromiseLike<A>,
  signal: AbortSignal,
  retry: Retrying,
): Promise<A> => {
  const { attempts = 5, firstDelayMs = 500, maxDelayMs = 60_000 } = retry;
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (thrown) {
      const busy = (thrown ?? {}) as Busy;
      const delayMs = wantedMs(busy) ?? Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1));
      if (busy.isRetryable !== true || attempt >= attempts || delayMs > maxDelayMs || signal.aborted) throw thrown;
      await pause(delayMs, signal);
    }
  }
};
