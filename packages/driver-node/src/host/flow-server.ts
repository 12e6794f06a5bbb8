/**
 * Serves flows over HTTP: `POST` and `GET /flows/{name}/…`, answered with server-sent events. A WebSocket to the same
 * address gets each event as a message. Tokens, rights and limits are the host's.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { randomUUID } from "node:crypto";
import { FlowServer, type FlowServerOptions, type FlowSession } from "@pawl/flow";
import type { Log, Runtime } from "@pawl/runtime";
import { entryOf } from "@pawl/runtime/driver";
import * as E from "fp-ts/lib/Either.js";
import type { WebSocket } from "ws";
import { corsHeaders, answerPreflight } from "./cors.ts";
import type { HostFlows } from "./flow-host.ts";
import { startHeartbeat } from "./socket.ts";
import { type Claims, type HostLimits, type Secrets, claimsOf, longestTimerMs, missingRight } from "@pawl/wire/host";

export interface FlowMountPort {
  readonly runtime: Runtime;
  readonly secrets: Secrets;
  readonly limits: HostLimits;
  readonly isAllowedOrigin: (origin: string | undefined) => boolean;
  readonly log: Log;
}

const refusal = (status: number, error: string): Response => Response.json({ error }, { status });

const noToken =
  "found no token: send `Authorization: Bearer {token}`; a page's WebSocket sends it as a protocol, after `pawl-flow`";

/**
 * Reads the token from the `Authorization` header, or from the protocols of a page's WebSocket, which can set no
 * headers.
 */
const tokenOf = ({ headers }: IncomingMessage): string => {
  const bearer = /^Bearer (?<token>.+)$/i.exec(headers.authorization ?? "")?.groups?.["token"];
  return bearer ?? (headers["sec-websocket-protocol"] ?? "").split(",").map((part) => part.trim())[1] ?? "";
};

const headersOf = (incoming: IncomingMessage): Headers => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) if (typeof value === "string") headers.set(name, value);
  return headers;
};

interface Admitted {
  readonly session: string;
  readonly claims: Claims;
}

export class FlowMount {
  readonly #port: FlowMountPort;
  readonly #options: FlowServerOptions;
  readonly #session: string;
  /** One server for each stream, so that a stream sees events of its own session only. */
  readonly #servers = new Map<FlowServer, string>();
  readonly #leave: () => void;
  readonly #ends = new Set<() => void>();
  #open = 0;

  constructor(flows: HostFlows, port: FlowMountPort) {
    const { session: usual = "flows", ...options } = flows.options;
    this.#port = port;
    this.#session = usual;
    this.#options = {
      ...options,
      newId: randomUUID,
      maxBodyBytes: port.limits.maxMessageBytes,
      maxBufferedBytes: port.limits.maxBufferedBytes,
      keepAliveMs: port.limits.heartbeatMs,
      session: () => Promise.reject(new Error("a stream has a session of its own")),
    };
    this.#leave = flows.listen((scope, ...of) => {
      for (const [server, session] of this.#servers) if (scope === `session:${session}`) server.observe(scope, ...of);
    });
  }

  close(): void {
    this.#leave();
    for (const end of this.#ends) end();
  }

  #serverFor(session: string): FlowServer {
    const opened = (): Promise<FlowSession> => this.#port.runtime.session(session);
    const server = new FlowServer({ ...this.#options, session: opened });
    this.#servers.set(server, session);
    return server;
  }

  /** Checks origin, token and right. Returns the session, or the refusal. */
  #admit(incoming: IncomingMessage): Admitted | Response {
    const { secrets, limits, isAllowedOrigin } = this.#port;
    if (!isAllowedOrigin(incoming.headers.origin)) return refusal(403, "this origin may not connect");
    const token = tokenOf(incoming);
    if (token === "") return refusal(401, noToken);
    const claims = claimsOf(secrets, token, Date.now());
    if (E.isLeft(claims)) return refusal(401, claims.left);
    const named = incoming.headers["x-session"];
    const session = typeof named === "string" && named !== "" ? named : this.#session;
    const missing = missingRight(claims.right, "call", `session:${session}`);
    if (missing !== undefined) return refusal(403, missing);
    if (this.#open >= limits.maxConnections) return refusal(503, "too many flows are being read: try again");
    return { session, claims: claims.right };
  }

  #request(incoming: IncomingMessage): Request {
    const method = incoming.method ?? "GET";
    const url = new URL(incoming.url ?? "/", "http://host");
    const hasBody = method !== "GET" && method !== "HEAD";
    const body = hasBody
      ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" as const }
      : {};
    return new Request(url, { method, headers: headersOf(incoming), ...body });
  }

  async #openStream(
    incoming: IncomingMessage,
    how: "handle" | "messages",
    left: AbortSignal,
  ): Promise<readonly [Response, Claims?]> {
    const admitted = this.#admit(incoming);
    if (admitted instanceof Response) return [admitted];
    const server = this.#serverFor(admitted.session);
    this.#open += 1;
    const leave = (): void => {
      this.#open -= 1;
      this.#servers.delete(server);
    };
    left.addEventListener("abort", leave, { once: true });
    try {
      return [await server[how](this.#request(incoming)), admitted.claims];
    } catch (thrown) {
      if (!left.aborted) this.#port.log(entryOf("host.internal_error", { flow: incoming.url ?? "" }, thrown));
      return [refusal(503, "the session of this flow is not available: try again")];
    }
  }

  /** Copies a stream to the reader with backpressure, until it ends, the reader leaves, or the token expires. */
  async #pump(
    body: ReadableStream<Uint8Array>,
    { expires_at }: Claims,
    send: (chunk: Uint8Array) => Promise<void>,
    left: AbortSignal,
  ): Promise<void> {
    const reader = body.getReader();
    const leave = (): void => void reader.cancel().catch(() => undefined); // The stream has already ended.
    const timer = setTimeout(leave, Math.min(expires_at - Date.now(), longestTimerMs));
    left.addEventListener("abort", leave, { once: true });
    this.#ends.add(leave);
    if (left.aborted) leave(); // The reader left while the session was opened.
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) await send(next.value);
    } finally {
      clearTimeout(timer);
      this.#ends.delete(leave);
    }
  }

  /** Waits until the reader has taken a chunk; rejects after `stallMs`. */
  #untilTaken(waiting: (done: () => void) => void, left: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("the reader is too slow")), this.#port.limits.stallMs);
      const done = (): void => {
        clearTimeout(timer);
        left.removeEventListener("abort", done);
        resolve();
      };
      left.addEventListener("abort", done, { once: true });
      waiting(done);
    });
  }

  /** Answers an HTTP request for a flow. */
  async http(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { isAllowedOrigin } = this.#port;
    if (answerPreflight(incoming, outgoing, isAllowedOrigin)) return;
    const left = new AbortController();
    outgoing.on("close", () => left.abort());
    outgoing.on("error", () => left.abort());
    const [response, claims] = await this.#openStream(incoming, "handle", left.signal);
    outgoing.writeHead(response.status, {
      ...Object.fromEntries(response.headers),
      ...corsHeaders(incoming, isAllowedOrigin),
    });
    if (response.body === null || claims === undefined || response.status !== 200)
      return void outgoing.end(await response.text());
    const send = async (chunk: Uint8Array): Promise<void> => {
      if (!left.signal.aborted && !outgoing.write(chunk))
        await this.#untilTaken((done) => outgoing.once("drain", done), left.signal);
    };
    try {
      await this.#pump(response.body, claims, send, left.signal);
      outgoing.end();
    } catch {
      outgoing.destroy(); // The reader notices the truncated response and asks again.
    }
  }

  /** Answers over a WebSocket. Errors are sent as a message and as the close code. */
  async socket(socket: WebSocket, incoming: IncomingMessage): Promise<void> {
    const left = new AbortController();
    socket.on("close", () => left.abort());
    socket.on("error", () => left.abort());
    startHeartbeat(socket, this.#port.limits.heartbeatMs);
    const [response, claims] = await this.#openStream(incoming, "messages", left.signal);
    if (response.body === null || claims === undefined || response.status !== 200) {
      socket.send(await response.text());
      return socket.close(4000 + response.status, "refused");
    }
    const decoder = new TextDecoder();
    const send = (chunk: Uint8Array): Promise<void> =>
      left.signal.aborted
        ? Promise.resolve()
        : this.#untilTaken((done) => socket.send(decoder.decode(chunk), () => done()), left.signal);
    try {
      await this.#pump(response.body, claims, send, left.signal);
      socket.close(1000);
    } catch {
      socket.terminate(); // The reader notices that the stream broke off and asks again.
    }
  }
}
