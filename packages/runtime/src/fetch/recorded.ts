/**
 * Requests and answers of `durableFetch`, as they are on record. An answer:
 *
 *   whole       { head: { status, url, headers }, body: "text" }       bytes: { base64 }
 *   in parts    head, "text", "text", …                                 bytes: { base64 } for a text
 *
 * The headers on record are those of a list. What a service sets in a browser, or says of its own keys, is not on it.
 *
 * A request gives its name to the step that stands for it:
 *
 *   POST api.example.com/v1/messages 5f2c81d09a3be744        method, address, hash of the body
 *
 * Equal requests have equal names in every run, and a count from the second on. Neither headers nor secrets of the address
 * are in the name, so a key may be changed under a call that is under way.
 */
import { base64Of, bytesOf } from "../encoding.ts";
import { EffectError } from "../error.ts";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { utf8 } from "@pawl/tool-value";

type Input = string | URL | Request;
type Sent = Exclude<RequestInit["body"], null | undefined>;

export interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  /** Sent as it is, as often as the request is asked again. */
  readonly body: Exclude<Sent, ReadableStream> | undefined;
  readonly signal: AbortSignal | undefined;
  /** The rest that is handed to `fetch`: `credentials`, `redirect`, and what a platform has of its own. */
  readonly more: RequestInit;
  readonly hash: string;
}

/** Parameters of an address that let somebody in. */
const secret = /key|token|secret|sig|auth|pass|credential/i;

/** Writes an address without what lets somebody in. */
export const placeOf = ({ host, pathname, searchParams }: URL): string => {
  const query = new URLSearchParams([...searchParams].filter(([name]) => !secret.test(name))).toString();
  return `${host}${pathname}${query === "" ? "" : `?${query}`}`;
};

const hashOf = (bytes: Uint8Array): string => bytesToHex(sha256(bytes)).slice(0, 16);

const bytesIn = (view: ArrayBuffer | ArrayBufferView): Uint8Array =>
  ArrayBuffer.isView(view) ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength) : new Uint8Array(view);

/** Hashes a form by its entries: the boundary that is sent between them is another each time. */
const hashOfForm = async (form: FormData): Promise<string> => {
  const entries = [...form].map(async ([name, value]) =>
    typeof value === "string"
      ? [name, value]
      : [name, value.name, value.type, hashOf(new Uint8Array(await value.arrayBuffer()))],
  );
  return hashOf(utf8(JSON.stringify(await Promise.all(entries))));
};

type Body = Pick<Asked, "body" | "hash">;

/** Reads a body that is no text only once: what is a stream is read to its end, so that it can be sent again. */
const bodyOf = (body: RequestInit["body"]): Body | Promise<Body> => {
  if (body === undefined || body === null) return { body: undefined, hash: "" };
  if (typeof body === "string") return { body, hash: hashOf(utf8(body)) };
  if (body instanceof URLSearchParams) return { body, hash: hashOf(utf8(body.toString())) };
  if (body instanceof FormData) return hashOfForm(body).then((hash) => ({ body, hash }));
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return { body, hash: hashOf(bytesIn(body)) };
  return new Response(body).arrayBuffer().then((bytes) => ({ body: bytes, hash: hashOf(new Uint8Array(bytes)) }));
};

/** Takes a request apart. It is there at once where its body is a text or bytes: then requests keep their order. */
export const askedOf = (input: Input, init: RequestInit = {}): Asked | Promise<Asked> => {
  const request = input instanceof Request ? input : undefined;
  const { method = request?.method ?? "GET", headers = request?.headers, body, signal, ...more } = init;
  const url = new URL(request?.url ?? String(input));
  const known = {
    method: method.toUpperCase(),
    url,
    headers: new Headers(headers),
    signal: signal ?? request?.signal ?? undefined,
    more,
  };
  const found = bodyOf(body === undefined ? request?.body : body);
  return found instanceof Promise ? found.then((read) => ({ ...known, ...read })) : { ...known, ...found };
};

/** Names the step of a request. */
export const nameOf = ({ method, url, hash }: Asked): string => `${method} ${placeOf(url)} ${hash}`.trim();

/** Tells whether a request asks for an answer in parts, as the APIs of models say it. */
export const isStreamed = ({ url, headers, body }: Asked): boolean =>
  headers.get("accept")?.includes("text/event-stream") === true ||
  /stream|alt=sse/i.test(url.pathname + url.search) ||
  (typeof body === "string" && /"stream"\s*:\s*true/.test(body));

/** A part of a body, as the log has it. */
export type Part = string | { readonly base64: string };

/** The last of an answer whose connection broke. */
export interface Broken {
  readonly broken: string;
}

export interface Head {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The headers that are on record. */
const kept =
  /^(?:content-type|content-disposition|content-language|location|link|etag|last-modified|date|retry-after(?:-ms)?|x-should-retry|(?:.*-)?request-id|x-ratelimit-.*|anthropic-ratelimit-.*|openai-(?:model|version|processing-ms))$/;

export const headOf = ({ status, statusText, headers }: Response, url: URL, also: readonly string[]): Head => ({
  status,
  statusText,
  url: `${url.protocol}//${placeOf(url)}`,
  headers: [...headers].filter(([name]) => kept.test(name) || also.includes(name)),
});

/** Statuses whose answers have no body. */
const bodiless = new Set([101, 103, 204, 205, 304]);

/** Makes the answer that a program is given. */
export const responseOf = (
  { url, headers, ...init }: Head,
  body: ConstructorParameters<typeof Response>[0],
): Response => {
  const response = new Response(bodiless.has(init.status) ? null : body, {
    ...init,
    headers: headers.map(([...pair]) => pair),
  });
  Object.defineProperty(response, "url", { value: url, configurable: true });
  return response;
};

export const bytesOfPart = (part: Part): Uint8Array<ArrayBuffer> =>
  new Uint8Array(typeof part === "string" ? new TextEncoder().encode(part) : bytesOf(part.base64));

const texts = /^(?:text\/|application\/(?:.*\+)?(?:json|xml|javascript|x-ndjson|x-www-form-urlencoded))/;
const isText = (headers: Headers): boolean => texts.test(headers.get("content-type") ?? "");

/** A chunk of a stream stands whole in the log, which bounds it. */
const longestPart = 48 * 1024;

const cut = (bytes: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / longestPart) }, (_, i) =>
    bytes.subarray(i * longestPart, (i + 1) * longestPart),
  );

/** Reads a body in parts, until the signal aborts. Neither a character nor a pair of surrogates is cut. */
export async function* partsOf({ body, headers }: Response, signal: AbortSignal): AsyncGenerator<Part> {
  if (body === null) return;
  const decoder = isText(headers) ? new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }) : undefined;
  const reader = body.getReader();
  const leave = (): void => void reader.cancel().catch(() => undefined); // The connection may be gone already.
  signal.addEventListener("abort", leave);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      for (const bytes of value === undefined ? [] : cut(value)) {
        const part = decoder === undefined ? { base64: base64Of(bytes) } : decoder.decode(bytes, { stream: true });
        if (part !== "") yield part;
      }
      if (done) break;
    }
    const rest = decoder?.decode() ?? "";
    if (rest !== "") yield rest;
  } finally {
    signal.removeEventListener("abort", leave);
    leave();
  }
}

const tooLarge = (asked: Asked, mostBytes: number): EffectError =>
  new EffectError(
    "response_too_large",
    `${asked.method} ${placeOf(asked.url)}: the answer has more than ${mostBytes} bytes. ` +
      "Ask for less, let `maxBytes` be larger, or fetch it in a step of your own that keeps it elsewhere",
  );

/** Reads a whole body, up to a bound. */
export const wholeBody = async (response: Response, asked: Asked, mostBytes: number): Promise<Part> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > mostBytes) throw tooLarge(asked, mostBytes); // Leaving the loop cancels the body.
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  if (!isText(response.headers)) return { base64: base64Of(bytes) };
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);
};
