/**
 * Subscriptions as async iterables that survive reconnections.
 *
 * Flow control is a window: the host sends at most `window` items ahead of what it was told was read, and the reader tells it
 * every half window. After a reconnection a subscription is asked for again from its cursor, but only once the buffer has
 * fallen below half a window: each connection brings up to a window, and a reader that stands still must not collect one
 * for every reconnection.
 */
import type { Cursor, Frame } from "@pawl/runtime";
import { type StreamCursor, type StreamFrame, cursorAfter, isAfter } from "@pawl/runtime/driver";
import type { Event } from "@pawl/sansio-core";
import type { JsonObject } from "@pawl/tool-value";
import type { HostFrame } from "../frame/host-frame.ts";
import type { HostRefused } from "./error.ts";
import type { SubscribeQuestion } from "./pending-questions.ts";

/** The number of events or frames that the host may send ahead of the reader. */
export const defaultWindow = 256;

export interface SubscriptionPort {
  /** Tells the host that everything up to this cursor was read. */
  readonly seen: (cursor: number) => void;
  /** Ends the subscription: its reader is gone. */
  readonly ended: () => void;
}

/** A subscription of any item type, as a connection works with it. */
export interface AnySubscription {
  /** Returns the question that subscribes from the current cursor. */
  readonly question: (id: number) => SubscribeQuestion;
  /** Calls `ask` as soon as less than half a window is buffered. */
  readonly whenDrained: (ask: () => void) => void;
  readonly receive: (frame: HostFrame) => void;
  readonly end: (error?: HostRefused) => void;
}

interface Buffered<A> {
  readonly item: A;
  /** The number under which the host is told that the item was read. */
  readonly cursor: number;
}

interface Reader<A> {
  readonly resolve: (next: IteratorResult<A>) => void;
  readonly reject: (error: Error) => void;
}

/** Receives frames of one kind, and hands them to its readers in order. */
export abstract class Subscription<A> implements AsyncIterableIterator<A>, AnySubscription {
  readonly #port: SubscriptionPort;
  readonly #halfWindow: number;
  #buffer: Buffered<A>[] = [];
  #readers: Reader<A>[] = [];
  #unreported = 0;
  #ask: (() => void) | undefined;
  #isOver = false;
  #error: HostRefused | undefined;

  constructor(window: number, port: SubscriptionPort) {
    this.#halfWindow = Math.ceil(window / 2);
    this.#port = port;
  }

  abstract question(id: number): SubscribeQuestion;
  abstract receive(frame: HostFrame): void;

  protected push(item: A, cursor: number): void {
    if (this.#isOver) return;
    const reader = this.#readers.shift();
    if (reader === undefined) this.#buffer.push({ item, cursor });
    else reader.resolve(this.#deliver({ item, cursor }));
  }

  whenDrained(ask: () => void): void {
    this.#ask = ask;
    this.#askIfDrained();
  }

  /** The count of unreported items starts again: it belongs to one connection. */
  #askIfDrained(): void {
    if (this.#ask === undefined || this.#buffer.length >= this.#halfWindow) return;
    const ask = this.#ask;
    this.#ask = undefined;
    this.#unreported = 0;
    ask();
  }

  #deliver({ item, cursor }: Buffered<A>): IteratorResult<A> {
    this.#unreported += 1;
    if (this.#unreported >= this.#halfWindow) {
      this.#unreported = 0;
      this.#port.seen(cursor);
    }
    return { done: false, value: item };
  }

  end(error?: HostRefused): void {
    this.#isOver = true;
    this.#error = error;
    this.#ask = undefined;
    for (const { resolve, reject } of this.#readers)
      if (error === undefined) resolve({ done: true, value: undefined });
      else reject(error);
    this.#readers = [];
  }

  async next(): Promise<IteratorResult<A>> {
    const buffered = this.#buffer.shift();
    if (buffered !== undefined) {
      const next = this.#deliver(buffered);
      this.#askIfDrained();
      return next;
    }
    if (this.#error !== undefined) throw this.#error;
    if (this.#isOver) return { done: true, value: undefined };
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }

  async return(): Promise<IteratorResult<A>> {
    this.#buffer = [];
    this.end();
    this.#port.ended();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** An event as the log has it: `EventCodec` of `@pawl/sansio-core` reads it. */
export type LogEvent = JsonObject & { readonly type: Event["type"] };

export interface Observed {
  /** The position to continue from. */
  readonly cursor: number;
  readonly at: number;
  readonly event: LogEvent;
}

/** The events of a scope, each once and in order. */
export class Observation extends Subscription<Observed> {
  readonly #scope: string;
  readonly #window: number;
  #cursor: number;

  constructor(scope: string, after: number, window: number, port: SubscriptionPort) {
    super(window, port);
    this.#scope = scope;
    this.#window = window;
    this.#cursor = after;
  }

  /** The cursor of the last event that arrived. */
  get cursor(): number {
    return this.#cursor;
  }

  question(id: number): SubscribeQuestion {
    return { type: "observe", id, scope: this.#scope, after: this.#cursor, window: this.#window };
  }

  receive(frame: HostFrame): void {
    if (frame.type !== "observed" || frame.cursor <= this.#cursor) return;
    const { cursor, at, event } = frame;
    this.#cursor = cursor;
    this.push({ cursor, at, event: event as LogEvent }, cursor);
  }
}

const cursorOf = (frame: Frame): Cursor | undefined => {
  switch (frame.type) {
    case "observed":
      return frame.cursor;
    case "gap":
      return frame.to;
    case "ephemeral":
    case "missed":
      return undefined;
  }
};

/**
 * The observations of a scope. A reconnection continues after the last one that arrived. A stretch that the host cannot
 * tell any more becomes one `gap` frame; ephemeral frames reach only those who are connected at the time.
 */
export class Watching extends Subscription<Frame> {
  readonly #scope: string;
  readonly #window: number;
  #cursor: Cursor | undefined;

  constructor(scope: string, from: Cursor | undefined, window: number, port: SubscriptionPort) {
    super(window, port);
    this.#scope = scope;
    this.#window = window;
    this.#cursor = from;
  }

  /** The last cursor that arrived, from which another watch can continue; undefined until the host has answered. */
  get cursor(): Cursor | undefined {
    return this.#cursor;
  }

  question(id: number): SubscribeQuestion {
    const from = this.#cursor === undefined ? {} : { from: this.#cursor };
    return { type: "watch", id, scope: this.#scope, window: this.#window, ...from };
  }

  receive(frame: HostFrame): void {
    if (frame.type === "watching") this.#cursor = frame.cursor;
    if (frame.type !== "watched") return;
    this.#cursor = this.#latest(cursorOf(frame.frame));
    this.push(frame.frame, frame.n);
  }

  #latest(cursor: Cursor | undefined): Cursor | undefined {
    if (cursor === undefined || this.#cursor === undefined) return cursor ?? this.#cursor;
    return isAfter(cursor, this.#cursor) ? cursor : this.#cursor;
  }
}

/** A subscription to a stream of a call, from a place. */
export interface StreamPlace {
  readonly call: string;
  readonly name: string;
  /** A number asks for recorded chunks alone; the cursor of the last frame goes on with what is said as well. */
  readonly from?: number | StreamCursor;
}

/** The frames of a stream, until its end. A reconnection goes on after the last one that arrived. */
export class StreamReading extends Subscription<StreamFrame> {
  readonly #scope: string;
  readonly #place: StreamPlace;
  readonly #window: number;
  #cursor: StreamCursor | undefined;

  constructor(scope: string, place: StreamPlace, window: number, port: SubscriptionPort) {
    super(window, port);
    this.#scope = scope;
    this.#place = place;
    this.#window = window;
    this.#cursor = typeof place.from === "object" ? place.from : undefined;
  }

  /** The cursor after the last frame that arrived, from which another reading can go on. */
  get cursor(): StreamCursor | undefined {
    return this.#cursor;
  }

  get #from(): { readonly from?: number; readonly attempt?: number } {
    const { from } = this.#place;
    if (typeof from === "number") return { from: this.#cursor?.at ?? from };
    return this.#cursor === undefined ? {} : { from: this.#cursor.at, attempt: this.#cursor.attempt };
  }

  question(id: number): SubscribeQuestion {
    const { call, name } = this.#place;
    return { type: "stream", id, scope: this.#scope, call, name, ...this.#from, window: this.#window };
  }

  receive(frame: HostFrame): void {
    if (frame.type !== "streamed") return;
    this.#cursor = cursorAfter(frame.frame, this.#cursor ?? { attempt: 1, at: 0 });
    this.push(frame.frame, frame.n);
  }
}
