/** The http provider: one POST a call, with a time that it may take, redirects that are looked at, and a bounded answer. */
import { isHttp, timeoutMs } from "../tool/endpoint.ts";
import { type TransportFailure, httpAnswer, httpBody, httpFailure, httpMisfit } from "./http-form.ts";
import type { Dispatching, Provider, Run } from "../tool/provider.ts";
import type { Registered } from "../tool/registry.ts";
import { type Answer, messageOf } from "../tool/result.ts";

export interface HttpOptions {
  /** Follows no redirects, and asks no address that it may not: `guardedFetch`, or a platform's own. */
  readonly fetch: typeof fetch;
  readonly maxRedirects?: number;
  /** Of an answer's body. */
  readonly maxBytes?: number;
}

/** No timer waits longer. */
export const maxTimer = 2 ** 31 - 1;

const defaults = { maxRedirects: 10, maxBytes: 4 * 1024 * 1024 };

/** Why a request came to nothing, as the step is told. */
class Failed extends Error {
  readonly failure: TransportFailure;
  constructor(failure: TransportFailure) {
    super(failure.type);
    this.failure = failure;
  }
}

export const unreachable: ReadonlySet<unknown> = new Set([
  ..."ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH EADDRNOTAVAIL".split(" "),
  "UND_ERR_CONNECT_TIMEOUT",
  "ETIMEDOUT",
]);

export const codeOf = (thrown: unknown): unknown =>
  thrown instanceof Error ? ((thrown as { readonly code?: unknown }).code ?? codeOf(thrown.cause)) : undefined;

const failureOf = (thrown: unknown): TransportFailure =>
  unreachable.has(codeOf(thrown)) ? { type: "connect" } : { type: "request", detail: messageOf(thrown) };

interface Request {
  readonly url: string;
  readonly init: RequestInit;
}

/** What a redirect leads to: as browsers do, all but 307 and 308 go on without the body. */
const redirected = ({ url, init }: Request, response: Response): Request | undefined => {
  const location = response.headers.get("location");
  if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return undefined;
  const next = URL.canParse(location, url) ? new URL(location, url).href : location;
  if (!isHttp(next)) throw new Failed({ type: "request", detail: `redirect to ${next}, expected http or https` });
  if (response.status >= 307) return { url: next, init };
  const { body: _, ...rest } = init;
  return { url: next, init: { ...rest, method: "GET", headers: {} } };
};

const answerOf = async (options: Required<HttpOptions>, first: Request): Promise<Response> => {
  let request = first;
  for (let hop = 0; hop <= options.maxRedirects; hop++) {
    const response = await options.fetch(request.url, { ...request.init, redirect: "manual" });
    const next = redirected(request, response);
    if (next === undefined) return response;
    await response.body?.cancel();
    request = next;
  }
  throw new Failed({ type: "request", detail: `more than ${options.maxRedirects} redirects` });
};

const tooLarge = (maxBytes: number): Failed =>
  new Failed({ type: "request", detail: `response larger than ${maxBytes} bytes` });

/** A body's text, as long as it keeps within its bound. */
const textOf = async ({ body }: Response, maxBytes: number): Promise<string> => {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes); // Leaving the loop lets go of the connection.
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
};

const read = async (response: Response, maxBytes: number): Promise<string> => {
  try {
    return await textOf(response, maxBytes);
  } catch (thrown) {
    throw thrown instanceof Failed ? thrown : new Failed({ type: "body", detail: messageOf(thrown) });
  }
};

const post = ({ name, runtime }: Registered, argument: string, signal: AbortSignal): Request => ({
  url: runtime.trim(),
  init: {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Axon-Tool": name },
    body: httpBody(argument),
    signal,
  },
});

const runHttp =
  (options: Required<HttpOptions>, entry: Registered): Run =>
  async (argument: string, { signal }: Dispatching): Promise<Answer> => {
    const misfit = httpMisfit(entry.name, entry.runtime);
    if (misfit !== undefined) return misfit;
    const late = AbortSignal.timeout(Math.min(timeoutMs(entry.timeout), maxTimer));
    try {
      const response = await answerOf(options, post(entry, argument, AbortSignal.any([signal, late])));
      return httpAnswer(response.status, await read(response, options.maxBytes));
    } catch (thrown) {
      if (late.aborted) return httpFailure(entry, { type: "timeout" });
      return httpFailure(entry, thrown instanceof Failed ? thrown.failure : failureOf(thrown));
    }
  };

export const httpProvider = (options: HttpOptions): Provider => {
  const all = { ...defaults, ...options };
  return (entry) => runHttp(all, entry);
};
