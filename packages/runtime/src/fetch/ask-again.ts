/**
 * Asks a service until it has an answer that is worth a place in the log: a service that is busy, and a connection that
 * breaks, are asked again within the step. The service says when by `retry-after`; without that the pause doubles.
 */
export interface AskingAgain {
  /** Requests that are sent for one answer, the first one counted. */
  readonly attempts: number;
  readonly firstDelayMs: number;
  /** A service that wants a longer pause has its answer handed on. */
  readonly maxDelayMs: number;
}

const busy = new Set([408, 425, 429, 500, 502, 503, 504, 529]);

/** Reads how long a service wants to be left alone, in milliseconds: it says so in milliseconds, in seconds, or by a date. */
export const retryAfterMs = (header: (name: string) => string | null | undefined): number | undefined => {
  const ms = Number(header("retry-after-ms") ?? Number.NaN);
  if (ms >= 0) return ms;
  const after = header("retry-after")?.trim() ?? "";
  if (after === "") return undefined;
  const wanted = Number.isNaN(Number(after)) ? Date.parse(after) - Date.now() : Number(after) * 1000;
  return Number.isNaN(wanted) ? undefined : Math.max(0, wanted);
};

/** Returns the pause after an attempt of which the service did not say how long it wants: each is twice as long. */
export const pauseAfter = (attempt: number, { firstDelayMs, maxDelayMs }: AskingAgain): number =>
  Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1));

/** Resolves after some milliseconds; rejects with the reason of the signal when that aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
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

/** Fills in what was not said of asking again. */
export const askingAgain = ({
  attempts = 5,
  firstDelayMs = 500,
  maxDelayMs = 60_000,
}: Partial<AskingAgain>): AskingAgain => ({ attempts, firstDelayMs, maxDelayMs });

/** Leaves the connection to the next request. */
const discard = async ({ body }: Response): Promise<void> => {
  await body?.cancel().catch(() => undefined); // Nobody reads it.
};

const isBroken = (thrown: unknown, signal: AbortSignal): boolean => {
  if (signal.aborted || !(thrown instanceof Error)) return false;
  const { code } = thrown as { readonly code?: unknown };
  return thrown instanceof TypeError || (typeof code === "string" && /^(?:E[A-Z]+|UND_ERR_\w+)$/.test(code));
};

interface Asking<A> {
  readonly send: (signal: AbortSignal) => Promise<Response>;
  /** Reads what the step keeps. Where the connection breaks meanwhile, the request is sent again. */
  readonly read: (response: Response) => A | Promise<A>;
  readonly signal: AbortSignal;
}

/** Sends a request, and sends it again while the service is busy or the connection breaks. */
export const askUntilAnswered = async <A>({ send, read, signal }: Asking<A>, again: AskingAgain): Promise<A> => {
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt >= again.attempts;
    let delayMs = pauseAfter(attempt, again);
    try {
      const response = await send(signal);
      if (busy.has(response.status)) delayMs = retryAfterMs((name) => response.headers.get(name)) ?? delayMs;
      if (isLast || !busy.has(response.status) || delayMs > again.maxDelayMs) return await read(response);
      await discard(response);
    } catch (thrown) {
      if (isLast || !isBroken(thrown, signal)) throw thrown;
    }
    await pause(delayMs, signal);
  }
};
