/** A host: serves a runtime over WebSocket, and over HTTP on the same port. */
import { once } from "node:events";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { httpHandler } from "@pawl/http";
import type { Log, Runtime } from "@pawl/runtime";
import { entryOf, healthAnswer } from "@pawl/runtime/driver";
import { type WebSocket, WebSocketServer } from "ws";
import { isSocketUrl } from "./cors.ts";
import { type HostFlows, isFlowPath } from "./flow-host.ts";
import { Forwarding, forwardedHeader } from "./forward.ts";
import type { FlowMount, FlowMountPort } from "./flow-server.ts";
import { hostSocketOf } from "./socket.ts";
import { errorsToConsole } from "../telemetry/log.ts";
import { nodeListener } from "./web-request.ts";
import {
  type Claims,
  type ConnectionPort,
  HostConnection,
  type HostLimits,
  Receivers,
  type Secrets,
  SendTurns,
  checkSecrets,
  checkedLimits,
  signToken,
} from "@pawl/wire/host";
import { nodePlatform } from "../platform.ts";

export interface HostOptions {
  readonly runtime: Runtime;
  /** Secrets that sign tokens, newest first. All of them verify. */
  readonly secrets: Secrets;
  /** The port to listen on; 0 takes a free one. */
  readonly port?: number;
  /** The address to listen on. Default: loopback. */
  readonly address?: string;
  /** The address that other processes are given for this host's sessions, if it differs from where it listens. */
  readonly publicUrl?: string;
  /** An HTTP or TLS server to use. It is started if it does not listen yet, and not closed. */
  readonly server?: Server | TlsServer;
  /**
   * Origins of pages that may connect, as `https://example.org`. Programs that are not browsers send no origin and may
   * connect.
   */
  readonly origins?: readonly string[];
  readonly limits?: Partial<HostLimits>;
  /** Clients that scopes can move to. Pass their `mover` to the runtime. */
  readonly receivers?: Receivers;
  /**
   * Serves requests, events, waits and approvals over HTTP below `/v1`, with the tokens, origins and limits of the
   * WebSocket. Default: unless `server` is a program's own, which may have such paths itself.
   */
  readonly http?: boolean;
  /** Serves the page of `@pawl/studio` at `/studio/`: its `studioHandler`. The page asks over HTTP, so that must be on. */
  readonly studio?: (request: Request) => Promise<Response>;
  /** Answers `GET /v1/health` and `/v1/ready`. Default: true, unless a server is given. */
  readonly health?: boolean;
  /**
   * Forwards questions about scopes of other hosts to them, with the client's token: they must share their secrets, and reach each
   * other at the addresses that they announce. Default: false, and a client is told the owner's address.
   */
  readonly forwards?: boolean;
  /** Flows to serve over HTTP. */
  readonly flows?: HostFlows;
  /** Gets connects, disconnects, and errors of the host itself. */
  readonly log?: Log;
}

export interface Host {
  readonly port: number;
  readonly url: string;
  /** Counts the clients: WebSockets, and HTTP requests that are under way. */
  readonly connections: number;
  readonly sign: (claims: Claims) => string;
  /** Closes all connections. The runtime keeps running. */
  readonly close: () => Promise<void>;
}

const loopback = "127.0.0.1";

const checkPublic = (url: string | undefined): void => {
  if (url === undefined || isSocketUrl(url)) return;
  throw new RangeError(`publicUrl: expected a ws:// or wss:// address, found ${url}`);
};

/** Refuses an upgrade and closes the socket. After an upgrade nothing else listens to its errors or its end. */
const refuse = (socket: Duplex, status: string): void => {
  socket.on("error", () => undefined); // The peer has gone.
  socket.once("finish", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
};

/** Bytes that a client may send before its hello. */
const maxUngreetedBytes = 64 * 1024;

const boundUngreeted = (socket: Duplex, connection: HostConnection): void => {
  let bytes = 0;
  const count = ({ length }: Buffer): void => {
    bytes += length;
    if (connection.isGreeted) return void socket.off("data", count);
    if (bytes <= maxUngreetedBytes) return;
    connection.close("hello_expected", `expected hello, found more than ${maxUngreetedBytes} bytes`);
    socket.destroy();
  };
  socket.on("data", count);
};

/** Makes a server that waits for a request's headers no longer than for a hello. */
const serverFor = ({ helloMs }: HostLimits): Server => {
  const headersTimeout = Math.min(helloMs, 60_000);
  return createServer({ headersTimeout, connectionsCheckingInterval: headersTimeout });
};

const listen = async (server: Server | TlsServer, port: number, address: string): Promise<void> => {
  if (server.listening) return;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, () => {
      server.off("error", reject);
      resolve();
    });
  });
};

/** Time that answers under way have to end when a host closes. */
const drainMs = 2000;

/** Closes a server once the answers under way have ended. A connection that has asked nothing yet is not waited for. */
const closed = async (server: Server | TlsServer, requests: ReadonlySet<ServerResponse>): Promise<void> => {
  const over = new Promise<void>((resolve) => void server.close(() => resolve()));
  const ends = [...requests].map((response) => once(response, "close"));
  await Promise.race([Promise.all(ends), pause(drainMs, undefined, { ref: false })]);
  server.closeAllConnections();
  await over;
};

const portOf = (server: Server | TlsServer): number => {
  const at = server.address();
  return typeof at === "object" && at !== null ? at.port : 0;
};

const urlOf = (server: Server | TlsServer, address: string): string => {
  const scheme = "setSecureContext" in server ? "wss" : "ws";
  return `${scheme}://${address.includes(":") ? `[${address}]` : address}:${portOf(server)}`;
};

/** A part of the host over HTTP: the paths that are its own, and what answers there. */
interface Mount {
  readonly is: (url: string | undefined) => boolean;
  readonly serve: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
}

/** Tells whether a request is for what a host serves over HTTP. */
const isHttpPath = (url: string | undefined): boolean => (url ?? "").startsWith("/v1/");

const isStudioPath = (url: string | undefined): boolean => /^\/studio(?:[/?]|$)/.test(url ?? "");

/** Returns where the outside resolves waits, at an address that others reach. */
const waitsAt = (publicUrl: string | undefined): string | undefined =>
  publicUrl === undefined ? undefined : `${publicUrl.replace(/^ws/, "http").replace(/\/$/, "")}/v1/waits/`;

/** Answers a request for the host's health; returns false for any other. */
const answersHealth = (runtime: Runtime, { method, url = "" }: IncomingMessage, response: ServerResponse): boolean => {
  const [path = ""] = url.split("?");
  const answer = healthAnswer(method, path, runtime);
  if (answer === undefined) return false;
  response.writeHead(answer.status, answer.headers).end(method === "HEAD" ? undefined : answer.body);
  return true;
};

/** Mounts flows. Their server comes with `@pawl/flow`, which only hosts with flows install. */
const mounted = async (flows: HostFlows, port: FlowMountPort): Promise<FlowMount> => {
  const { FlowMount } = await import("./flow-server.ts");
  return new FlowMount(flows, port);
};

/** Makes the connection of a socket that was accepted. */
const connected = (socket: WebSocket, port: ConnectionPort): HostConnection => {
  const connection = new HostConnection(hostSocketOf(socket, port.limits.heartbeatMs), port);
  socket.on("message", (data, isBinary) => connection.receive(isBinary ? undefined : String(data)));
  socket.on("error", () => undefined); // A close event follows.
  socket.on("close", () => connection.end());
  return connection;
};

/** Opens a WebSocket host over a runtime, on loopback unless told otherwise. */
export const openHost = async (options: HostOptions): Promise<Host> => {
  const { runtime, secrets, port = 0, address = loopback, origins = [], log = errorsToConsole } = options;
  const { receivers = new Receivers() } = options;
  checkSecrets(secrets);
  checkPublic(options.publicUrl);
  const limits = checkedLimits(options.limits);
  const turns = new SendTurns(limits, nodePlatform);
  const connections = new Set<HostConnection>();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: limits.maxMessageBytes, perMessageDeflate: false });
  const server = options.server ?? serverFor(limits);
  const isAllowedOrigin = (origin: string | undefined): boolean => origin === undefined || origins.includes(origin);
  const flows = options.flows && (await mounted(options.flows, { runtime, secrets, limits, isAllowedOrigin, log }));
  const closing = new AbortController();
  const isHttp = options.http ?? options.server === undefined;
  const http = nodeListener(
    httpHandler({
      runtime,
      secrets,
      origins,
      log,
      signal: closing.signal,
      limits: {
        maxBodyBytes: limits.maxMessageBytes,
        maxRequests: limits.maxConnections,
        keepAliveMs: limits.heartbeatMs,
      },
    }),
    limits,
  );
  const mounts: readonly Mount[] = [
    ...(isHttp ? [{ is: isHttpPath, serve: http }] : []),
    ...(flows === undefined ? [] : [{ is: isFlowPath, serve: flows.http.bind(flows) }]),
    ...(options.studio === undefined ? [] : [{ is: isStudioPath, serve: nodeListener(options.studio, limits) }]),
  ];
  if (isHttp) runtime.waitsAt(waitsAt(options.publicUrl));
  const requests = new Set<ServerResponse>();
  const { health = options.server === undefined } = options;
  const common: ConnectionPort = { runtime, secrets, limits, turns, log, receivers };
  const { maxMessageBytes } = limits;
  const forwardsFor: ConnectionPort["forwardsFor"] = (token, send) => new Forwarding({ token, maxMessageBytes, send });
  const plain = (request: IncomingMessage, response: ServerResponse): void => {
    if (health && answersHealth(runtime, request, response)) return;
    const serve = mounts.find(({ is }) => is(request.url))?.serve;
    if (serve === undefined) {
      if (options.server === undefined) response.writeHead(426).end();
      return;
    }
    requests.add(response);
    response.on("close", () => requests.delete(response));
    void serve(request, response);
  };
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const { origin } = request.headers;
    if (!isAllowedOrigin(origin)) {
      log(entryOf("client.refused", { why: "origin", origin: origin ?? "" }));
      return refuse(socket, "403 Forbidden");
    }
    const { size } = sockets.clients;
    if (size >= limits.maxConnections) {
      log(entryOf("client.refused", { why: "too_many_connections", connections: size }));
      return refuse(socket, "503 Service Unavailable");
    }
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      if (flows !== undefined && isFlowPath(request.url)) return void flows.socket(accepted, request);
      const forwards = options.forwards === true && request.headers[forwardedHeader] === undefined;
      const connection = connected(accepted, { ...common, ...(forwards ? { forwardsFor } : {}) });
      connections.add(connection);
      boundUngreeted(socket, connection);
      accepted.on("close", () => connections.delete(connection));
    });
  };
  const close = async (): Promise<void> => {
    server.off("upgrade", upgrade);
    server.off("request", plain);
    flows?.close();
    closing.abort();
    for (const connection of connections) connection.close("going_away");
    sockets.close();
    if (options.server === undefined) await closed(server, requests);
  };
  server.on("upgrade", upgrade);
  server.on("request", plain);
  try {
    await listen(server, port, address);
    await runtime.announce(options.publicUrl ?? urlOf(server, address));
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return {
    port: portOf(server),
    url: urlOf(server, address),
    get connections() {
      return connections.size + requests.size;
    },
    sign: (claims) => signToken(secrets, claims),
    close,
  };
};
