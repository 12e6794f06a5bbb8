/** The fetching behind `web_fetch` in Node: guarded, limited, and converted to text for the model. */
import type { IncomingMessage } from "node:http";
import { EgressRefused } from "@pawl/egress";
import { type GuardOptions, guardedRequest } from "@pawl/egress/node";
import type { JsonObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Download, WebPort, WebRequest } from "../../web.ts";
import { type Body, readBody } from "./body.ts";
import { converted } from "./convert.ts";
import { filenameOf, isHtml, isTextual, looksBinary, textOfBody } from "./media.ts";
import { WebFailure, failureOf } from "./web-failure.ts";

export interface WebLimits {
  /** The timeout for the head of each response. */
  readonly firstByteMs: number;
  readonly bodyMs: number;
  /** The limit of a body after decompression. */
  readonly maxBytes: number;
  readonly maxRedirects: number;
  /** The timeout for the conversion of a page. */
  readonly convertMs: number;
}

export interface WebOptions extends GuardOptions, Partial<WebLimits> {
  readonly userAgent?: string;
}

interface FetchContext extends WebLimits {
  readonly guard: GuardOptions;
  readonly userAgent: string;
}

const defaults: WebLimits = {
  firstByteMs: 1000,
  bodyMs: 30_000,
  maxBytes: 4 * 1024 * 1024,
  maxRedirects: 10,
  convertMs: 5000,
};

const blocked = "URL is blocked by policy";

const readUrl = (text: string, base?: string): URL => {
  if (!URL.canParse(text, base))
    throw new WebFailure(`Request failed: ${JSON.stringify(text)} cannot be read as a URL`);
  const url = new URL(text, base);
  const isPlain = url.username === "" && url.password === "" && /^https?:$/.test(url.protocol);
  if (!isPlain) throw new WebFailure(blocked);
  url.hash = "";
  return url;
};

/** Resolves with the head of a response; rejects if it does not arrive in time. */
const headOf = async (url: URL, method: string, context: FetchContext): Promise<IncomingMessage> => {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), context.firstByteMs);
  const headers = {
    "user-agent": context.userAgent,
    accept: "text/html, application/xhtml+xml, text/*, application/json, */*;q=0.5",
    "accept-encoding": "gzip, deflate, br",
  };
  try {
    return await guardedRequest(url, { method, headers, signal: abort.signal }, context.guard);
  } catch (error) {
    if (abort.signal.aborted) {
      throw new WebFailure("Request timed out: server did not respond within 1 second", { cause: error });
    }
    throw error instanceof EgressRefused ? new WebFailure(blocked, { cause: error }) : failureOf(error);
  } finally {
    clearTimeout(timer);
  }
};

const redirects: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);

interface Answer {
  readonly url: URL;
  readonly head: IncomingMessage;
}

/** Follows redirects to the response. Each URL is checked like the first. */
const answerOf = async ({ url: text, method }: WebRequest, context: FetchContext): Promise<Answer> => {
  let url = readUrl(text);
  for (let hop = 0; hop <= context.maxRedirects; hop++) {
    const head = await headOf(url, method, context);
    const { location } = head.headers;
    if (!redirects.has(head.statusCode) || location === undefined) return { url, head };
    head.destroy();
    url = readUrl(location, url.href);
  }
  throw new WebFailure(`Request failed: more than ${context.maxRedirects} redirects`);
};

const metadataOf = ({ url, head }: Answer): JsonObject => {
  const { "content-type": type, "content-length": length, "last-modified": modified } = head.headers;
  const filename = filenameOf(head.headers["content-disposition"], url);
  const isCounted = length !== undefined && /^\d{1,15}$/.test(length) && head.headers["content-encoding"] === undefined;
  return {
    url: url.href,
    status_code: head.statusCode ?? 0,
    ...(type === undefined ? {} : { content_type: type }),
    ...(isCounted ? { size: Number(length) } : {}),
    ...(modified === undefined ? {} : { last_modified: modified }),
    ...(filename === undefined ? {} : { filename }),
  };
};

const noBinary = "Binary content is not supported. Only textual content (HTML, text, JSON, etc.) can be fetched.";
const timedOut = "\n\n[..more content timed out...]";

const textual = async (body: Body, type: string | undefined, format: WebRequest["format"], context: FetchContext) => {
  const text = textOfBody(body.bytes, type);
  const page = format === "raw" || !isHtml(type, text) ? undefined : await converted(text, format, context.convertMs);
  const ending = body.end === "timed_out" ? timedOut : "";
  return {
    ...(body.end === "whole" ? { size: body.bytes.length } : {}),
    format: page === undefined || E.isLeft(page) ? "raw" : format,
    content: (page === undefined || E.isLeft(page) ? text : page.right) + ending,
    ...(body.end === "whole" ? {} : { truncated: true }),
    ...(page !== undefined && E.isLeft(page) ? { error: page.left } : {}),
  };
};

const fetched = async (request: WebRequest, context: FetchContext): Promise<JsonObject> => {
  const answer = await answerOf(request, context);
  const { head } = answer;
  const metadata = metadataOf(answer);
  const type = head.headers["content-type"];
  if (request.method === "HEAD") {
    head.destroy();
    return { ...metadata, method: "HEAD" };
  }
  if (!isTextual(type)) {
    head.destroy();
    return { ...metadata, error: noBinary };
  }
  const body = await readBody(head, context);
  if (looksBinary(body.bytes, type)) return { ...metadata, error: noBinary };
  return { ...metadata, ...(await textual(body, type, request.format, context)) };
};

const unfinished = { timed_out: "the body did not arrive in time", too_large: "the body is too large" } as const;

/** Downloads a whole body, or nothing. */
const downloaded = async (request: WebRequest, context: FetchContext): Promise<Download> => {
  const answer = await answerOf({ ...request, method: "GET" }, context);
  const { bytes, end } = await readBody(answer.head, context);
  if (end !== "whole") throw new WebFailure(`Failed to save file: ${unfinished[end]}`);
  return { metadata: metadataOf(answer), bytes };
};

const readable = async <A>(work: () => Promise<A>): Promise<E.Either<string, A>> => {
  try {
    return E.right(await work());
  } catch (error) {
    if (error instanceof WebFailure) return E.left(error.message);
    throw error;
  }
};

/** Returns the port for `web_fetch`. It connects to public addresses alone, unless `allow` permits others. */
export const nodeWeb = ({ allow, resolve, userAgent = "pawl", ...limits }: WebOptions = {}): WebPort => {
  const guard = { ...(allow === undefined ? {} : { allow }), ...(resolve === undefined ? {} : { resolve }) };
  const context = { ...defaults, ...limits, guard, userAgent };
  const fetch = (request: WebRequest): Promise<E.Either<string, JsonObject>> =>
    readable(() => fetched(request, context));
  return Object.assign(fetch, { download: (request: WebRequest) => readable(() => downloaded(request, context)) });
};
