/**
 * Web requests and responses over Node's HTTP server, for handlers of the form `(request) => Promise<Response>`: those of
 * a host, and those of programs that mount one in Express or in a server of their own.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { defaultHostLimits } from "@pawl/wire/host";

type WebHandler = (request: Request) => Promise<Response>;

const headersOf = ({ headers: given }: IncomingMessage): Headers => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) if (typeof value === "string") headers.set(name, value);
  return headers;
};

/** Returns the whole address of a request. Express changes `url` below a mount, and keeps what was asked for. */
const urlOf = (incoming: IncomingMessage & { readonly originalUrl?: string }): URL | undefined => {
  const { socket, headers } = incoming;
  const path = incoming.originalUrl ?? incoming.url ?? "";
  const scheme = "encrypted" in socket ? "https" : "http";
  return path.startsWith("/")
    ? (URL.parse(`${scheme}://${headers.host ?? "localhost"}${path}`) ?? undefined)
    : undefined;
};

/** Makes a web request; its signal aborts when the client leaves. Returns undefined where its address is none. */
const requestOf = (incoming: IncomingMessage, left: AbortSignal): Request | undefined => {
  const url = urlOf(incoming);
  if (url === undefined) return undefined;
  const method = incoming.method ?? "GET";
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" as const } : {};
  return new Request(url, { method, headers: headersOf(incoming), signal: left, ...body });
};

/** Waits until a reader has taken what was written; rejects after `stallMs`. */
const untilTaken = (outgoing: ServerResponse, stallMs: number, left: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const over = (): void => {
      clearTimeout(timer);
      outgoing.off("drain", done);
      left.removeEventListener("abort", done);
    };
    const done = (): void => {
      over();
      resolve();
    };
    const timer = setTimeout(() => {
      over();
      reject(new Error("the reader is too slow"));
    }, stallMs);
    outgoing.once("drain", done);
    left.addEventListener("abort", done, { once: true });
  });

/** Sends a response with backpressure. A reader that takes nothing for `stallMs` is cut off, as is a body that nobody reads. */
const send = async (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  response: Response,
  stallMs: number,
  left: AbortSignal,
): Promise<void> => {
  const cookies = response.headers.getSetCookie();
  const headers = {
    ...Object.fromEntries(response.headers),
    ...(cookies.length === 0 ? {} : { "set-cookie": cookies }),
  };
  outgoing.writeHead(response.status, incoming.complete ? headers : { ...headers, connection: "close" });
  const reader = response.body?.getReader();
  if (reader === undefined) return void outgoing.end();
  outgoing.flushHeaders();
  const leave = (): void => void reader.cancel();
  left.addEventListener("abort", leave, { once: true });
  try {
    if (left.aborted) leave(); // Its reader left while the answer was made.
    for (let next = await reader.read(); !next.done; next = await reader.read())
      if (!outgoing.write(next.value)) await untilTaken(outgoing, stallMs, left);
    outgoing.end();
  } catch {
    leave();
    outgoing.destroy(); // The reader notices that the answer broke off, and asks again.
  }
};

/** Serves a web handler with Node: `createServer(nodeListener(handler))`, or `app.use(nodeListener(handler))`. */
export const nodeListener =
  (handler: WebHandler, { stallMs = defaultHostLimits.stallMs }: { readonly stallMs?: number } = {}) =>
  (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const left = new AbortController();
    outgoing.on("close", () => left.abort());
    outgoing.on("error", () => left.abort());
    const request = requestOf(incoming, left.signal);
    if (request === undefined) return void outgoing.writeHead(400, { connection: "close" }).end();
    handler(request).then(
      (response) => send(incoming, outgoing, response, stallMs, left.signal),
      () => outgoing.destroy(), // A handler of pawl answers everything; another one may throw.
    );
  };
