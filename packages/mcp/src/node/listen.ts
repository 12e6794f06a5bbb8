/** A handler shaped like `fetch` behind Node's HTTP server. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Answers one request of HTTP. */
export type Fetch = (request: Request) => Promise<Response>;

export interface ListenOptions {
  /** The port to listen on; 0 takes a free one. */
  readonly port?: number;
  /** The address to listen on. Default: loopback. */
  readonly address?: string;
  /** The path that is served. Default: `/mcp`. */
  readonly path?: string;
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Ends all connections. */
  readonly close: () => Promise<void>;
}

const headersOf = ({ headers }: IncomingMessage): Headers => {
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const one of Array.isArray(value) ? value : [value ?? ""]) copied.append(name, one);
  return copied;
};

/** Makes the request that a handler is given. It aborts when the client has gone before it was answered. */
const requestOf = (incoming: IncomingMessage, outgoing: ServerResponse): Request => {
  const gone = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  const { method = "GET", url = "/", headers } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody ? { body: Readable.toWeb(incoming) as unknown as ReadableStream, duplex: "half" as const } : {};
  const address = `http://${headers.host ?? "localhost"}${url}`;
  return new Request(address, { method, headers: headersOf(incoming), signal: gone.signal, ...body });
};

const answer = async (fetch: Fetch, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
  const response = await fetch(requestOf(incoming, outgoing));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  if (response.body === null) return void outgoing.end();
  await pipeline(Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]), outgoing);
};

/** Ends a response that nobody could make: its client has gone, or the handler has thrown. */
const fail = (outgoing: ServerResponse): void => {
  if (outgoing.headersSent) outgoing.destroy();
  else outgoing.writeHead(500).end();
};

const isServed = (path: string, { url = "/" }: IncomingMessage): boolean => {
  const [asked = "/"] = url.split("?");
  return asked === path || asked.startsWith("/.well-known/");
};

const listening = (server: Server, port: number, address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, () => {
      server.off("error", reject);
      resolve();
    });
  });

/** Serves a handler on a port of this machine. */
export const listen = async (fetch: Fetch, options: ListenOptions = {}): Promise<Listening> => {
  const { port = 0, address = "127.0.0.1", path = "/mcp" } = options;
  const server = createServer((incoming, outgoing) => {
    if (!isServed(path, incoming)) return void outgoing.writeHead(404).end();
    answer(fetch, incoming, outgoing).catch(() => fail(outgoing));
  });
  await listening(server, port, address);
  const { port: taken } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://${address.includes(":") ? `[${address}]` : address}:${taken}${path}`, port: taken, close };
};
