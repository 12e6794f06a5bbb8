/**
 * The connection of a client: made again when it is lost, with a pause that grows, until the client is closed or the
 * host says that it will never be let in.
 *
 *   connecting ─▶ greeting ─▶ open ─▶ (pause) ─▶ connecting …
 */
import { describe, quote } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { ClientFrame, protocolVersion } from "../frame/client-frame.ts";
import { closeCodes, isFinal } from "../frame/close-code.ts";
import { HostFrame } from "../frame/host-frame.ts";
import { frameText, readTrusted } from "../frame/text.ts";
import { HostRefused } from "./error.ts";
import { type SocketConstructor, type SocketLike, connectingState, openState } from "./socket.ts";

export interface LinkOptions {
  readonly url: string;
  /** A token, or where to get a new one for each connection. */
  readonly token: string | (() => string | Promise<string>);
  readonly socket: SocketConstructor;
  readonly backoff: { readonly minMs: number; readonly maxMs: number };
  /** It is not made again when it is lost. */
  readonly isOnce?: boolean;
}

/** How long a host may take to let us in: one that stands still, or is gone without a word, says nothing for ever. */
export const greetingMs = 15_000;

/** A timer can not be set for longer: it would ring at once. */
const longestTimerMs = 2 ** 31 - 1;

/** With this a connection ends that is not made again. */
export const connectionLost = "connection_lost";

export interface LinkPort {
  /** The host has let us in. */
  readonly opened: () => void;
  readonly heard: (frame: HostFrame) => void;
  /** There will be no other. */
  readonly ended: (error: HostRefused) => void;
}

export class Link {
  readonly #options: LinkOptions;
  readonly #port: LinkPort;
  #socket: SocketLike | undefined;
  #isOpen = false;
  #isClosed = false;
  #failures = 0;
  #pause: ReturnType<typeof setTimeout> | undefined;
  #pulse: ReturnType<typeof setInterval> | undefined;
  #greeting: ReturnType<typeof setTimeout> | undefined;
  /** Something was heard since the last look. */
  #isAlive = true;

  constructor(options: LinkOptions, port: LinkPort) {
    this.#options = options;
    this.#port = port;
    void this.#connect();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(frame: ClientFrame): void {
    if (this.#isOpen) this.#say(frame);
  }

  #say(frame: ClientFrame): void {
    if (this.#socket?.readyState === openState) this.#socket.send(frameText(ClientFrame, frame));
  }

  async #connect(): Promise<void> {
    const { url, token, socket: Socket } = this.#options;
    let current: string;
    try {
      current = await (typeof token === "string" ? token : token());
    } catch {
      return this.#again(); // Where tokens come from may be away as well.
    }
    if (this.#isClosed) return;
    let socket: SocketLike;
    try {
      socket = new Socket(url);
    } catch {
      return this.#end("invalid_url", `expected the address of a host, as ws://127.0.0.1:7777, found ${quote(url)}`);
    }
    this.#socket = socket;
    this.#greeting = setTimeout(() => this.drop(), greetingMs);
    socket.addEventListener("open", () => this.#say({ type: "hello", protocol: protocolVersion, token: current }));
    socket.addEventListener("message", ({ data }) => this.#hear(socket, data));
    socket.addEventListener("close", ({ code, reason }) => this.#closed(socket, code, reason));
    socket.addEventListener("error", () => this.#failed(socket));
  }

  /** Its close comes next; but Node 22 says no more than this of a host that it can not connect to. */
  #failed(socket: SocketLike): void {
    if (socket.readyState === connectingState) this.#closed(socket, 1006, "");
  }

  #hear(socket: SocketLike, data: unknown): void {
    if (socket !== this.#socket) return;
    this.#isAlive = true;
    const frame = readTrusted(HostFrame, String(data));
    if (E.isLeft(frame)) return this.#end("invalid_frame", `the host sent what is no frame: ${describe(frame.left)}`);
    if (frame.right.type === "welcome") this.#open(frame.right.heartbeat_ms);
    this.#port.heard(frame.right);
  }

  #open(heartbeatMs: number): void {
    clearTimeout(this.#greeting);
    this.#isOpen = true;
    this.#failures = 0;
    this.#pulse = setInterval(() => this.#beat(), Math.min(heartbeatMs, longestTimerMs));
    this.#port.opened();
  }

  /** A host that says nothing is asked; one that does not answer is given up. */
  #beat(): void {
    if (!this.#isAlive) return this.drop();
    this.#isAlive = false;
    this.#say({ type: "ping", n: 0 });
  }

  /** Gives the connection up, for another one. */
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
    clearInterval(this.#pulse);
    if (this.#isClosed) return;
    const isRefused = isFinal(code) || (code === closeCodes.token_expired && typeof this.#options.token === "string");
    if (isRefused) return this.#end(codeOf(code), reason);
    this.#again();
  }

  #again(): void {
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
    clearInterval(this.#pulse);
    this.#socket?.close(1000);
    this.#socket = undefined;
  }
}

const codeOf = (code: number): string =>
  Object.entries(closeCodes).find(([, known]) => known === code)?.[0] ?? "connection_refused";
