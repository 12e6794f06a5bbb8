/** The sending side of one client's socket: backpressure and heartbeat. */
import type { WebSocket } from "ws";
import { frameText, HostFrame } from "@pawl/wire/frame";
import type { HostLimits } from "./limits.ts";

export class Outgoing {
  readonly #socket: WebSocket;
  readonly #limits: HostLimits;
  readonly #drop: () => void;
  #waiting: (() => void)[] = [];
  #stalled: NodeJS.Timeout | undefined;

  constructor(socket: WebSocket, limits: HostLimits, drop: () => void) {
    this.#socket = socket;
    this.#limits = limits;
    this.#drop = drop;
  }

  get #isFull(): boolean {
    return this.#socket.bufferedAmount > this.#limits.pauseBytes;
  }

  send(frame: HostFrame): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(frameText(HostFrame, frame), () => this.#sent());
    if (this.#socket.bufferedAmount > this.#limits.maxBufferedBytes) this.#drop();
    else if (this.#isFull) this.#stalled ??= setTimeout(this.#drop, this.#limits.stallMs);
  }

  #sent(): void {
    if (this.#isFull) return;
    clearTimeout(this.#stalled);
    this.#stalled = undefined;
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }

  /** Resolves once the client has read enough to be sent more, or has gone. */
  ready(): Promise<void> {
    if (!this.#isFull) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  end(): void {
    clearTimeout(this.#stalled);
    this.#wake();
  }
}

/** Pings at each beat and terminates a socket that has not answered the last one. Returns a function that stops it. */
export const startHeartbeat = (socket: WebSocket, everyMs: number): (() => void) => {
  let hasAnswered = true;
  const timer = setInterval(() => {
    if (!hasAnswered) return socket.terminate();
    hasAnswered = false;
    return socket.ping();
  }, everyMs);
  const stop = (): void => clearInterval(timer);
  socket.on("pong", () => (hasAnswered = true));
  socket.once("close", stop);
  return stop;
};
