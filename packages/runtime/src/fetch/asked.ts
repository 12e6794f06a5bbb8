/**
 * A request as `durableFetch` sends it, and the name of the step that stands for it:
 *
 *   POST api.example.com/v1/messages 5f2c81d09a3be744        method, address, hash of the body
 *
 * Equal requests have equal names in every run, and a count from the second on. Neither headers nor secrets of the address
 * are in the name, so a key may be changed under a call that is under way.
 */
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
