/** The sending side of the clients' sockets: backpressure, by connection and for all of them. */
import { utf8 } from "@pawl/tool-value";
import { inTurns } from "@pawl/runtime/driver";
import { frameSlices, frameText, HostFrame } from "../frame/index.ts";
import type { HostLimits } from "./limits.ts";
import type { HostClock, HostSocket } from "./port.ts";

interface Waiting {
  readonly outgoing: Outgoing;
  readonly go: () => void;
}

/**
 * Turns of the subscriptions of a host. In each turn of the event loop one of them reads on and sends, so that others are
 * served in between, and reads nothing before its client may be sent more. Memory holds what is unsent, not what was asked for.
 */
export class SendTurns {
  readonly #limits: HostLimits;
  readonly clock: HostClock;
  readonly #all = new Set<Outgoing>();
  #waiting: readonly Waiting[] = [];
  #unsent = 0;
  #isSet = false;

  constructor(limits: HostLimits, clock: HostClock) {
    this.#limits = limits;
    this.clock = clock;
  }

  get isFull(): boolean {
    return this.#unsent > this.#limits.pauseTotalBytes;
  }

  enter(outgoing: Outgoing): void {
    this.#all.add(outgoing);
  }

  leave(outgoing: Outgoing): void {
    this.#all.delete(outgoing);
    const [own, others] = [
      this.#waiting.filter((one) => one.outgoing === outgoing),
      this.#waiting.filter((one) => one.outgoing !== outgoing),
    ];
    this.#waiting = others;
    for (const { go } of own) go();
  }

  /** Takes note of what a connection sends, or has sent. */
  count(bytes: number): void {
    const wasFull = this.isFull;
    this.#unsent += bytes;
    if (!wasFull && this.isFull) for (const outgoing of this.#all) outgoing.watchProgress();
    if (bytes < 0) this.#set();
  }

  /** Resolves in a turn of its own, once the client may be sent more, or has gone. */
  wait(outgoing: Outgoing): Promise<void> {
    return new Promise((go) => {
      this.#waiting = [...this.#waiting, { outgoing, go }];
      this.#set();
    });
  }

  #set(): void {
    if (this.#isSet || this.#waiting.length === 0) return;
    this.#isSet = true;
    this.clock.nextTurn(() => {
      this.#isSet = false;
      this.#next();
    });
  }

  /** Lets the first go on that may. Without one, the next socket that has sent something asks again. */
  #next(): void {
    const next = this.#waiting.find(({ outgoing }) => outgoing.mayTakeMore);
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((one) => one !== next);
    next.go();
    this.#set();
  }
}

export class Outgoing {
  readonly #socket: HostSocket;
  readonly #limits: HostLimits;
  readonly #turns: SendTurns;
  readonly #drop: () => void;
  #counted = 0;
  #callOff: (() => void) | undefined;

  constructor(socket: HostSocket, limits: HostLimits, turns: SendTurns, drop: () => void) {
    this.#socket = socket;
    this.#limits = limits;
    this.#turns = turns;
    this.#drop = drop;
    turns.enter(this);
  }

  get #isFull(): boolean {
    return this.#socket.buffered > this.#limits.pauseBytes;
  }

  get mayTakeMore(): boolean {
    return !this.#isFull && (!this.#turns.isFull || this.#socket.buffered === 0);
  }

  /** Sends a frame, and returns the characters of its text. */
  send(frame: HostFrame): number {
    return this.#socket.isOpen ? this.#send(frame, frameText(HostFrame, frame)) : 0;
  }

  /** Sends an answer. While a long one is written, others are served. */
  async answer(frame: HostFrame): Promise<void> {
    const text = inTurns(frameSlices(frame), this.#turns.clock);
    const whole = typeof text === "string" ? text : await text;
    if (this.#socket.isOpen) this.#send(frame, whole);
  }

  #send(frame: HostFrame, text: string): number {
    this.#socket.send(text, () => this.#sent(), frame);
    this.#count();
    if (this.#socket.buffered > this.#limits.maxBufferedBytes) this.#drop();
    else this.watchProgress();
    return text.length;
  }

  /** Drops the connection if it holds too much, or all do, for too long. */
  watchProgress(): void {
    if (this.#isFull || (this.#turns.isFull && this.#socket.buffered > 0))
      this.#callOff ??= this.#turns.clock.later(this.#limits.stallMs, this.#drop);
  }

  #count(): void {
    const bytes = this.#socket.buffered;
    this.#turns.count(bytes - this.#counted);
    this.#counted = bytes;
  }

  #sent(): void {
    this.#count();
    if (this.#isFull) return;
    this.#endStall();
    this.watchProgress();
  }

  /** Resolves in a turn of its own, once the client has read enough to be sent more, or has gone. */
  turn(): Promise<void> {
    return this.#turns.wait(this);
  }

  #endStall(): void {
    this.#callOff?.();
    this.#callOff = undefined;
  }

  end(): void {
    this.#endStall();
    this.#turns.count(-this.#counted);
    this.#counted = 0;
    this.#turns.leave(this);
  }
}

/** Maximum length of a close reason in UTF-8 bytes (RFC 6455); a socket throws above it. */
const maxReasonBytes = 123;

/** Cuts a message to the longest close reason, between characters. */
export const closeReasonOf = (message: string): string =>
  new TextDecoder().decode(utf8(message).subarray(0, maxReasonBytes), { stream: true });
