/** An adapter that gives the guarded request the interface of `fetch`. */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { type GuardOptions, guardedRequest } from "./request.ts";

const statusesWithoutBody: ReadonlySet<number> = new Set([101, 204, 205, 304]);

const headersOf = ({ rawHeaders }: IncomingMessage): Headers => {
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
  return headers;
};

const responseOf = (message: IncomingMessage): Response => {
  const { statusCode: status = 0, statusMessage: statusText = "" } = message;
  const body = statusesWithoutBody.has(status)
    ? null
    : (Readable.toWeb(message) as unknown as ReadableStream<Uint8Array>);
  if (body === null) message.resume();
  return new Response(body, { status, statusText, headers: headersOf(message) });
};

/** Returns a `fetch` that connects to no refused address and follows no redirect: its caller decides on each one. */
export const guardedFetch =
  (options: GuardOptions = {}): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    const { url, method, signal } = request;
    const headers = Object.fromEntries(request.headers);
    const body = request.body === null ? {} : { body: new Uint8Array(await request.arrayBuffer()) };
    const message = await guardedRequest(new URL(url), { method, headers, signal, ...body }, options);
    try {
      return responseOf(message);
    } catch (error) {
      message.destroy();
      throw error;
    }
  };
