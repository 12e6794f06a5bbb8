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

/** Reads how long a service wants to be left alone: in milliseconds, in seconds, or until a date. */
const wantedMs = (headers: Headers): number | undefined => {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (ms >= 0) return ms;
  const after = headers.get("retry-after");
  if (after === null || after.trim() === "") return undefined;
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
export const askUntilAnswered = async <A>(
  { send, read, signal }: Asking<A>,
  { attempts, firstDelayMs, maxDelayMs }: AskingAgain,
): Promise<A> => {
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt >= attempts;
    let delayMs = Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1));
    try {
      const response = await send(signal);
      if (busy.has(response.status)) delayMs = wantedMs(response.headers) ?? delayMs;
      if (isLast || !busy.has(response.status) || delayMs > maxDelayMs) return await read(response);
      await discard(response);
    } catch (thrown) {
      if (isLast || !isBroken(thrown, signal)) throw thrown;
    }
    await pause(delayMs, signal);
  }
};
