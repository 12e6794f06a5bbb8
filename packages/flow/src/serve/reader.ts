/** One who reads a flow along: what they are sent, in which form, and how far behind they may be. */
import type { FlowEnd, FlowExecutionEvent, Program } from "@pawl/sansio-core";
import { type Frame, type Wire, sseKeepAlive, sseStart, sseText } from "./wire.ts";

/** How frames are written: as server-sent events, or each as a message of its own. */
export interface Form {
  readonly start: string;
  readonly keepAlive: string;
  readonly frame: (frame: Frame) => string;
}
export const sse: Form = { start: sseStart, keepAlive: sseKeepAlive, frame: sseText };
export const messages: Form = { start: "", keepAlive: "", frame: (frame) => JSON.stringify(frame) };

export type Controller = ReadableStreamDefaultController<Uint8Array>;

interface Reading {
  readonly form: Form;
  readonly keepAliveMs: number;
  readonly maxBufferedBytes: number;
}

/** Who reads one flow along, until it is over or they have left. */
export class Reader {
  readonly #controller: Controller;
  readonly #wire: Wire;
  readonly #flow: string;
  readonly #form: Form;
  readonly #most: number;
  readonly #encoder = new TextEncoder();
  readonly #timer: ReturnType<typeof setInterval>;
  #release = (): void => undefined;
  #isOver = false;

  constructor(controller: Controller, wire: Wire, { name }: Program, { form, keepAliveMs, maxBufferedBytes }: Reading) {
    this.#controller = controller;
    this.#wire = wire;
    this.#flow = name;
    this.#form = form;
    this.#most = maxBufferedBytes;
    this.#timer = setInterval(() => this.#write(form.keepAlive), keepAliveMs);
    this.#write(form.start);
  }

  onEnd(release: () => void): void {
    this.#release = release;
  }

  read(event: FlowExecutionEvent): void {
    this.#show(this.#wire.frames(event));
  }

  /** The flow is over; `last` is shown where no event has said so, and behind it what it `came` to, if that is given. */
  end(last: FlowExecutionEvent | undefined, came?: FlowEnd): void {
    if (this.#isOver) return;
    if (!this.#wire.isOver) this.#show(last === undefined ? this.#wire.broken(this.#flow) : this.#wire.frames(last));
    if (came !== undefined) this.#show([this.#wire.end(this.#flow, came)]);
    if (this.#isOver) return;
    this.leave();
    this.#controller.close();
  }

  leave(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#release();
  }

  #show(frames: readonly Frame[]): void {
    for (const frame of frames) this.#write(this.#form.frame(frame));
  }

  #write(text: string): void {
    if (this.#isOver || text === "") return;
    this.#controller.enqueue(this.#encoder.encode(text));
    if (-(this.#controller.desiredSize ?? 0) <= this.#most) return;
    this.leave();
    this.#controller.error(new Error(`the reader is ${this.#most} bytes behind: ask again under the same id`));
  }
}
