/**
 * What happens in a scope, as its observers see it. Over reconnections it goes on after the last that came; what can
 * not be told any more is a gap, and what is recorded nowhere is heard by who is there at the time.
 */
import { type Cursor, type Frame, isAfter } from "@pawl/runtime";
import type { HostFrame } from "../frame/host-frame.ts";
import type { Subscribing } from "./pending-questions.ts";
import { Inflow, type InflowPort } from "./subscription.ts";

const reached = (frame: Frame): Cursor | undefined => {
  switch (frame.type) {
    case "observed":
      return frame.cursor;
    case "gap":
      return frame.to;
    case "ephemeral":
      return undefined;
  }
};

export class Watching extends Inflow<Frame> {
  readonly #scope: string;
  readonly #window: number;
  #cursor: Cursor | undefined;

  constructor(scope: string, from: Cursor | undefined, window: number, port: InflowPort) {
    super(window, port);
    this.#scope = scope;
    this.#window = window;
    this.#cursor = from;
  }

  /** The last that came: where another watch may go on from. None before the host has answered. */
  get cursor(): Cursor | undefined {
    return this.#cursor;
  }

  question(id: number): Subscribing {
    const from = this.#cursor === undefined ? {} : { from: this.#cursor };
    return { type: "watch", id, scope: this.#scope, window: this.#window, ...from };
  }

  heard(frame: HostFrame): void {
    if (frame.type === "watching") this.#cursor = frame.cursor;
    if (frame.type !== "watched") return;
    this.#cursor = this.#after(reached(frame.frame));
    this.come(frame.frame, frame.n);
  }

  #after(cursor: Cursor | undefined): Cursor | undefined {
    if (cursor === undefined || this.#cursor === undefined) return cursor ?? this.#cursor;
    return isAfter(cursor, this.#cursor) ? cursor : this.#cursor;
  }
}
