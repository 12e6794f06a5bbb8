/** What goes out to one client, and how much of it waits. Whoever can wait does while the client reads too slowly. */
import type { WebSocket } from "ws";
import { frameText, HostFrame } from "@pawl/wire/frame";
import type { HostLimits } from "./limits.ts";

/** Asks at every beat, until the socket is closed, or what this gives back is called. */
export const beat = (socket: WebSocket, everyMs: number): (() => void) => {
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

  /** Resolves when the client has read enough to be told more, or is gone. */
  ready(): Promise<void> {
    if (!this.#isFull) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  end(): void {
    clearTimeout(this.#stalled);
    this.#wake();
  }
}
