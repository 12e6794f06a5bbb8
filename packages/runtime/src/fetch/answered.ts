/**
 * Answers of services: asked for until there is one to keep, and their form on record.
 *
 *   whole       { head: { status, url, headers }, body: "text" }       bytes: { base64 }
 *   in parts    head, "text", "text", …                                 bytes: { base64 } for a text
 *
 * The headers on record are those of a list. What a service sets in a browser, or says of its own keys, is not on it.
 */
import { base64Of, bytesOf } from "../encoding.ts";
import { EffectError } from "../error.ts";
import { type Asked, placeOf } from "./asked.ts";

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
