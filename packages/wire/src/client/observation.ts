/** The events of a scope, each once and in order. */
import type { Event } from "@pawl/sansio-core";
import type { HostFrame } from "../frame/host-frame.ts";
import type { Subscribing } from "./pending-questions.ts";
import { Inflow, type InflowPort } from "./subscription.ts";

export interface Observed {
  /** Where to go on from. */
  readonly cursor: number;
  readonly at: number;
  readonly event: Event;
}

export class Observation extends Inflow<Observed> {
  readonly #scope: string;
  readonly #window: number;
  #cursor: number;

  constructor(scope: string, after: number, window: number, port: InflowPort) {
    super(window, port);
    this.#scope = scope;
    this.#window = window;
    this.#cursor = after;
  }

  /** The last event that came. */
  get cursor(): number {
    return this.#cursor;
  }

  question(id: number): Subscribing {
    return { type: "observe", id, scope: this.#scope, after: this.#cursor, window: this.#window };
  }

  heard(frame: HostFrame): void {
    if (frame.type !== "observed" || frame.cursor <= this.#cursor) return;
    const { cursor, at, event } = frame;
    this.#cursor = cursor;
    this.come({ cursor, at, event }, cursor);
  }
}
