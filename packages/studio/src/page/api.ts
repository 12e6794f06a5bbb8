/** The questions of the page to its host, over HTTP. The token is in a cookie that scripts cannot read. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: string;
  readonly status: number;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface Me {
  readonly by: string;
  readonly scopes: readonly string[];
  readonly rights: readonly string[];
  readonly expires_at: number;
}

const refusedBy = async (response: Response): Promise<Refused> => {
  const problem = (await response.json().catch(() => ({}))) as { readonly code?: string; readonly detail?: string };
  const { code = "unreadable", detail = `the host answered ${response.status}` } = problem;
  return new Refused(response.status, code, detail);
};

/** Asks the host. Throws what it refuses. */
export const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
  const response = await fetch(path, { ...init, credentials: "same-origin" });
  if (!response.ok && response.status !== 304) throw await refusedBy(response);
  return response;
};

export const send = (
  path: string,
  method: "POST" | "DELETE",
  body?: unknown,
  signal?: AbortSignal,
): Promise<Response> =>
  ask(path, {
    method,
    ...(signal === undefined ? {} : { signal }),
    ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });

/** Exchanges a token for the cookie of this page. */
export const logIn = async (token: string): Promise<Me> => {
  const response = await ask("/v1/login", { method: "POST", headers: { authorization: `Bearer ${token}` } });
  return (await response.json()) as Me;
};

export const whoAmI = async (): Promise<Me> => (await ask("/v1/login")).json() as Promise<Me>;

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

export interface Watching<A> {
  readonly changed: (found: A) => void;
  /** Hears that the host does not answer, and that it answers again. */
  readonly reached: (isThere: boolean, thrown?: Refused) => void;
  readonly signal: AbortSignal;
}

const longestPauseMs = 2000;

/**
 * Reads an address again whenever what it has is new: the host holds the answer back until then. A host that is away is
 * asked again until it is there; a refusal that asking cannot change ends the watch.
 */
export const watch = async <A>(path: string, { changed, reached, signal }: Watching<A>): Promise<void> => {
  let tag: string | null = null;
  let pauseMs = 100;
  while (!signal.aborted) {
    try {
      const headers = { prefer: "wait=25", ...(tag === null ? {} : { "if-none-match": tag }) };
      const response = await ask(path, { headers, signal });
      const found = response.status === 304 ? undefined : ((await response.json()) as A);
      if (signal.aborted) return;
      reached(true);
      pauseMs = 100;
      tag = response.headers.get("etag");
      if (found !== undefined) changed(found);
    } catch (thrown) {
      if (signal.aborted) return;
      const refusal = thrown instanceof Refused ? thrown : undefined;
      reached(false, refusal);
      if (refusal !== undefined && refusal.status < 500) return;
      await pause(pauseMs, signal);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }
};
