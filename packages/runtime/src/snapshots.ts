/** Snapshots of one scope: taken when the events since the last outweigh it, of what is durable, between the turns. */
import { type State, snapshot } from "@pawl/sansio-core";
import { type Json, stringify } from "@pawl/tool-value";
import type { Journal } from "./journal.ts";
import type { Platform } from "./platform.ts";

export interface SnapshotPort {
  readonly platform: Platform;
  readonly keep: (seq: number, text: string) => ReturnType<Journal["snapshot"]>;
  readonly fault: (what: string, thrown: unknown) => void;
}

/** Fewer characters of events are read again faster than a snapshot. */
const least = 65_536;
/** How long a snapshot that is due may wait for a turn of its own. */
const delayMs = 20;

export class Snapshots {
  readonly #port: SnapshotPort;
  /** Of the last one, in characters; and of the events since. */
  #size: number;
  #since = 0;
  #durable: State | undefined;
  #callOff: (() => void) | undefined;
  #isTaking = false;

  constructor(port: SnapshotPort, size: number) {
    this.#port = port;
    this.#size = size;
  }

  /** So many characters of events are durable, and this is the state after them. */
  note(durable: State, characters: number): void {
    this.#since += characters;
    this.#durable = durable;
    if (this.#since < Math.max(least, this.#size) || this.#callOff !== undefined || this.#isTaking) return;
    this.#callOff = this.#port.platform.later(delayMs, () => void this.#take());
  }

  stop(): void {
    this.#callOff?.();
    this.#durable = undefined;
  }

  async #take(): Promise<void> {
    this.#callOff = undefined;
    const state = this.#durable;
    if (state === undefined) return;
    this.#isTaking = true;
    this.#since = 0;
    try {
      const text = stringify(snapshot(state) as Json);
      this.#size = text.length;
      const result = await this.#port.keep(state.seq, text);
      if (result.type !== "ok") this.#port.fault(`a snapshot was not taken: ${result.type}`, result);
    } catch (thrown) {
      this.#port.fault("a snapshot could not be made", thrown);
    } finally {
      this.#isTaking = false;
    }
  }
}
