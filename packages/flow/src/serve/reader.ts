/** One client that reads a flow's events as a stream. A client that falls too far behind is disconnected. */
import type { FlowEnd, FlowExecutionEvent, Program } from "@pawl/sansio-core/driver";
import { type Frame, type Wire, sseKeepAlive, sseStart, sseText } from "./wire.ts";

/** The form of frames: server-sent events, or one message for each frame. */
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

export class Reader {
  readonly #controller: Controller;
  readonly #wire: Wire;
  readonly #flow: string;
  readonly #form: Form;
  readonly #maxBufferedBytes: number;
  readonly #encoder = new TextEncoder();
  readonly #timer: ReturnType<typeof setInterval>;
  #release = (): void => undefined;
  #isOver = false;

  constructor(controller: Controller, wire: Wire, { name }: Program, { form, keepAliveMs, maxBufferedBytes }: Reading) {
    this.#controller = controller;
    this.#wire = wire;
    this.#flow = name;
    this.#form = form;
    this.#maxBufferedBytes = maxBufferedBytes;
    this.#timer = setInterval(() => this.#write(form.keepAlive), keepAliveMs);
    this.#write(form.start);
  }

  onEnd(release: () => void): void {
    this.#release = release;
  }

  read(event: FlowExecutionEvent): void {
    this.#send(this.#wire.frames(event));
  }

  /** Ends the stream. `last` is sent if no event has ended the flow, then `flowEnd` if the client asked for it. */
  end(last: FlowExecutionEvent | undefined, flowEnd?: FlowEnd): void {
    if (this.#isOver) return;
    if (!this.#wire.isOver) this.#send(last === undefined ? this.#wire.broken(this.#flow) : this.#wire.frames(last));
    if (flowEnd !== undefined) this.#send([this.#wire.end(this.#flow, flowEnd)]);
    if (this.#isOver) return;
    this.leave();
    this.#controller.close();
  }

  leave(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#release();
  }

  #send(frames: readonly Frame[]): void {
    for (const frame of frames) this.#write(this.#form.frame(frame));
  }

  #write(text: string): void {
    if (this.#isOver || text === "") return;
    this.#controller.enqueue(this.#encoder.encode(text));
    if (-(this.#controller.desiredSize ?? 0) <= this.#maxBufferedBytes) return;
    this.leave();
    this.#controller.error(
      new Error(
        `the reader is more than ${this.#maxBufferedBytes} bytes behind: send the request again under the same id`,
      ),
    );
  }
}
