/**
 * A WebSocket that reconnects with exponential backoff and jitter, until it is closed or the host refuses the client for
 * good. A heartbeat detects a host that is gone without closing.
 *
 *   connecting ─▶ greeting ─▶ open ─▶ (pause) ─▶ connecting …
 */
import { describe, quote } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { ClientFrame, protocolVersion } from "../frame/client-frame.ts";
import { HostFrame, closeCodes, isFinal } from "../frame/host-frame.ts";
import { frameText, readTrusted } from "../frame/text.ts";
import { HostRefused } from "./error.ts";

/** The part of a WebSocket that the client uses. Browsers and Node have it. */
export interface SocketLike {
  readonly readyState: number;
  send: (text: string) => void;
  close: (code?: number, reason?: string) => void;
  addEventListener: ((type: "open" | "error", listener: () => void) => void) &
    ((type: "message", listener: (event: { readonly data: unknown }) => void) => void) &
    ((type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void) => void);
}

export type SocketConstructor = new (url: string) => SocketLike;

/** The values of `readyState`. */
const connectingState = 0;
const openState = 1;

export interface SocketOptions {
  readonly url: string;
  /** The token, or a function that returns a new one for each connection. */
  readonly token: string | (() => string | Promise<string>);
  readonly socket: SocketConstructor;
  readonly backoff: { readonly minMs: number; readonly maxMs: number };
  /** Ends when the connection is lost, instead of reconnecting. */
  readonly isOnce?: boolean;
}

/** The timeout for the host's welcome. */
export const greetingMs = 15_000;

/** A longer timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** The code of a lost connection that is not made again. */
export const connectionLost = "connection_lost";

export interface SocketPort {
  /** The host has accepted the token. */
  readonly opened: () => void;
  readonly received: (frame: HostFrame) => void;
  /** There will be no other connection. */
  readonly ended: (error: HostRefused) => void;
}

export class ReconnectingSocket {
  readonly #options: SocketOptions;
  readonly #port: SocketPort;
  #socket: SocketLike | undefined;
  #isOpen = false;
  #isClosed = false;
  #failures = 0;
  #pause: ReturnType<typeof setTimeout> | undefined;
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #greeting: ReturnType<typeof setTimeout> | undefined;
  /** Set if a frame has arrived since the last heartbeat. */
  #isAlive = true;

  constructor(options: SocketOptions, port: SocketPort) {
    this.#options = options;
    this.#port = port;
    void this.#connect();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(frame: ClientFrame): void {
    if (this.#isOpen) this.#write(frame);
  }

  #write(frame: ClientFrame): void {
    if (this.#socket?.readyState === openState) this.#socket.send(frameText(ClientFrame, frame));
  }

  async #connect(): Promise<void> {
    const { url, token, socket: Socket } = this.#options;
    let current: string;
    try {
      current = await (typeof token === "string" ? token : token());
    } catch {
      return this.#reconnect(); // The source of tokens may be down as well.
    }
    if (this.#isClosed) return;
    let socket: SocketLike;
    try {
      socket = new Socket(url);
    } catch {
      return this.#end(
        "invalid_url",
        `expected the address of a host, such as ws://127.0.0.1:7777, found ${quote(url)}`,
      );
    }
    this.#socket = socket;
    this.#greeting = setTimeout(() => this.drop(), greetingMs);
    socket.addEventListener("open", () => this.#write({ type: "hello", protocol: protocolVersion, token: current }));
    socket.addEventListener("message", ({ data }) => this.#receive(socket, data));
    socket.addEventListener("close", ({ code, reason }) => this.#closed(socket, code, reason));
    socket.addEventListener("error", () => this.#failed(socket));
  }

  /** Handles an error while connecting. A `close` event follows, but not in Node 22. */
  #failed(socket: SocketLike): void {
    if (socket.readyState === connectingState) this.#closed(socket, 1006, "");
  }

  #receive(socket: SocketLike, data: unknown): void {
    if (socket !== this.#socket) return;
    this.#isAlive = true;
    const frame = readTrusted(HostFrame, String(data));
    if (E.isLeft(frame)) return this.#end("invalid_frame", `the host sent an invalid frame: ${describe(frame.left)}`);
    if (frame.right.type === "welcome") this.#open(frame.right.heartbeat_ms);
    this.#port.received(frame.right);
  }

  #open(heartbeatMs: number): void {
    clearTimeout(this.#greeting);
    this.#isOpen = true;
    this.#failures = 0;
    this.#heartbeat = setInterval(() => this.#beat(), Math.min(heartbeatMs, longestTimerMs));
    this.#port.opened();
  }

  /** Pings a silent host, and drops the connection if it did not answer the last ping. */
  #beat(): void {
    if (!this.#isAlive) return this.drop();
    this.#isAlive = false;
    this.#write({ type: "ping", n: 0 });
  }

  /** Drops the connection; a new one follows. */
  drop(): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    socket.close();
    this.#closed(socket, 0, "dropped");
  }

  #closed(socket: SocketLike, code: number, reason: string): void {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    this.#isOpen = false;
    clearTimeout(this.#greeting);
    clearInterval(this.#heartbeat);
    if (this.#isClosed) return;
    const isRefused = isFinal(code) || (code === closeCodes.token_expired && typeof this.#options.token === "string");
    if (isRefused) return this.#end(codeOf(code), reason);
    this.#reconnect();
  }

  #reconnect(): void {
    if (this.#isClosed) return;
    const { isOnce = false, backoff } = this.#options;
    if (isOnce) return this.#end(connectionLost, "the connection was lost");
    const { minMs, maxMs } = backoff;
    const pauseMs = Math.min(maxMs, minMs * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    this.#pause = setTimeout(() => void this.#connect(), pauseMs * (0.5 + Math.random() / 2));
  }

  #end(code: string, message: string): void {
    this.close();
    const { url, isOnce = false } = this.#options;
    this.#port.ended(new HostRefused(code, isOnce ? `${url}: ${message}` : message));
  }

  close(): void {
    this.#isClosed = true;
    this.#isOpen = false;
    clearTimeout(this.#pause);
    clearTimeout(this.#greeting);
    clearInterval(this.#heartbeat);
    this.#socket?.close(1000);
    this.#socket = undefined;
  }
}

const codeOf = (code: number): string =>
  Object.entries(closeCodes).find(([, known]) => known === code)?.[0] ?? "connection_refused";
