/** The http provider: one POST for each call, with a timeout, checked redirects and a bounded answer. */
import type { Dispatching, Provider, Run } from "../tool/provider.ts";
import { isHttp, timeoutMs, timerMs } from "../tool/endpoint.ts";
import type { Registered } from "../tool/registry.ts";
import { type Answer, failed, messageOf, succeeded } from "../tool/result.ts";

/** The bytes of an error's body that its message quotes. */
const quotedBytes = 200;

/** Sends an argument that looks like JSON as it is, and wraps any other text as `{"input": …}`. */
export const httpBody = (argument: string): string =>
  /^\s*[[{]/.test(argument) ? argument : JSON.stringify({ input: argument });

/** Returns the failure of a declaration whose address cannot be called. */
export const httpMisfit = (tool: string, runtime: string): Answer | undefined => {
  const url = runtime.trim();
  if (url === "") {
    return failed(`HTTP tool '${tool}': no endpoint URL. Set runtime: "https://..." in tool definition.`);
  }
  if (isHttp(url)) return undefined;
  return failed(`HTTP tool '${tool}': invalid URL '${url}'. Must start with http:// or https://.`);
};

/** Cuts a text to `quotedBytes`, between two characters. */
const clipped = (text: string): string => {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= quotedBytes) return text;
  let end = quotedBytes;
  while (((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  return `${new TextDecoder().decode(bytes.subarray(0, end))}...`;
};

/** Reads the answer of an HTTP tool: a status outside 2xx is a failure. */
export const httpAnswer = (status: number, body: string): Answer =>
  status >= 200 && status <= 299 ? succeeded(body) : failed(`HTTP ${status}: ${clipped(body)}`);

/** The reason for a missing answer. */
export type TransportFailure =
  | { readonly type: "timeout" }
  | { readonly type: "connect" }
  | { readonly type: "request"; readonly detail: string }
  | { readonly type: "body"; readonly detail: string };

/** Describes the failure of a request that got no answer. */
export const httpFailure = (
  { name, runtime, timeout }: { readonly name: string; readonly runtime: string; readonly timeout: string },
  reason: TransportFailure,
): Answer => {
  const failure = (text: string): Answer => failed(`HTTP tool '${name}': ${text}`);
  switch (reason.type) {
    case "timeout":
      return failure(`request timed out after ${Math.floor(timeoutMs(timeout) / 1000)}s`);
    case "connect":
      return failure(`connection failed to ${runtime.trim()}`);
    case "request":
      return failure(`request failed: ${reason.detail}`);
    case "body":
      return failure(`failed to read response body: ${reason.detail}`);
  }
};

export interface HttpOptions {
  /** Must follow no redirects and refuse private addresses: `guardedFetch`, or a platform's own. */
  readonly fetch: typeof fetch;
  readonly maxRedirects?: number;
  /** The limit of an answer's body. */
  readonly maxBytes?: number;
}

const defaults = { maxRedirects: 10, maxBytes: 4 * 1024 * 1024 };

class RequestFailed extends Error {
  readonly failure: TransportFailure;
  constructor(failure: TransportFailure) {
    super(failure.type);
    this.failure = failure;
  }
}

/** Codes of errors that mean that no connection was made. */
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

/** Returns the request that a redirect leads to. As in browsers, only 307 and 308 keep the body. */
const redirected = ({ url, init }: Request, response: Response): Request | undefined => {
  const location = response.headers.get("location");
  if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return undefined;
  const next = URL.canParse(location, url) ? new URL(location, url).href : location;
  if (!isHttp(next))
    throw new RequestFailed({ type: "request", detail: `redirect to ${next}, expected http or https` });
  if (response.status >= 307) return { url: next, init };
  const { body: _, ...rest } = init;
  return { url: next, init: { ...rest, method: "GET", headers: {} } };
};

const fetchFollowing = async (options: Required<HttpOptions>, first: Request): Promise<Response> => {
  let request = first;
  for (let hop = 0; hop <= options.maxRedirects; hop++) {
    const response = await options.fetch(request.url, { ...request.init, redirect: "manual" });
    const next = redirected(request, response);
    if (next === undefined) return response;
    await response.body?.cancel();
    request = next;
  }
  throw new RequestFailed({ type: "request", detail: `more than ${options.maxRedirects} redirects` });
};

const tooLarge = (maxBytes: number): RequestFailed =>
  new RequestFailed({ type: "request", detail: `response larger than ${maxBytes} bytes` });

/** Reads a body as text; throws once it exceeds `maxBytes`. */
const textOf = async ({ body }: Response, maxBytes: number): Promise<string> => {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes); // Leaving the loop closes the connection.
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
};

const read = async (response: Response, maxBytes: number): Promise<string> => {
  try {
    return await textOf(response, maxBytes);
  } catch (thrown) {
    throw thrown instanceof RequestFailed ? thrown : new RequestFailed({ type: "body", detail: messageOf(thrown) });
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
    const problem = httpMisfit(entry.name, entry.runtime);
    if (problem !== undefined) return problem;
    const timeout = AbortSignal.timeout(timerMs(entry.timeout));
    try {
      const response = await fetchFollowing(options, post(entry, argument, AbortSignal.any([signal, timeout])));
      return httpAnswer(response.status, await read(response, options.maxBytes));
    } catch (thrown) {
      if (timeout.aborted) return httpFailure(entry, { type: "timeout" });
      return httpFailure(entry, thrown instanceof RequestFailed ? thrown.failure : failureOf(thrown));
    }
  };

/** Makes the provider that calls tools over HTTP. */
export const httpProvider = (options: HttpOptions): Provider => {
  const all = { ...defaults, ...options };
  return (entry) => runHttp(all, entry);
};
