/**
 * Which of the tabs over one journal writes: the one that holds a Web Lock. It is given to the next when its tab closes
 * or crashes. One whose tab hangs is stolen after it left three questions unanswered: questions and not a clock, since
 * messages come in time where timers of a tab in the background do not. The lock only says who should write; that
 * nobody else does is up to the writer's fence in the database.
 */
import { BrowserJournalError } from "../journal/error.ts";
import type { Channel } from "./channel.ts";

export interface LeaderLockPort {
  readonly lock: string;
  readonly writer: string;
  readonly channel: Channel;
  readonly beatMs: number;
  /** This tab writes from now on; the lock is released again where this fails. */
  readonly taken: () => Promise<void>;
  /** Another tab has stolen the lock. */
  readonly lost: () => void;
  readonly fault: (what: string, thrown: unknown) => void;
}

const mostMissed = 3;

/** The locks of this page, or a refusal. */
export const locksHere = (): LockManager => {
  if (typeof navigator !== "undefined" && navigator.locks !== undefined) return navigator.locks;
  throw new BrowserJournalError(
    "unavailable",
    "there are no Web Locks here: serve the page over https, or on localhost",
  );
};

export class LeaderLock {
  readonly #port: LeaderLockPort;
  readonly #locks = locksHere();
  readonly #beats: ReturnType<typeof setInterval>;
  #wanting = new AbortController();
  #leave: (() => void) | undefined;
  #missed = 0;
  #isClosed = false;

  constructor(port: LeaderLockPort) {
    this.#port = port;
    port.channel.hear(({ type }) => {
      if (type === "asked") this.#answer();
      else this.#missed = 0;
    });
    this.#beats = setInterval(() => this.#beat(), port.beatMs);
    this.#want({});
  }

  get isHeld(): boolean {
    return this.#leave !== undefined;
  }

  /** Waits for the lock, in a queue with the others, or takes it from whoever has it. */
  #want(how: LockOptions): void {
    this.#wanting.abort();
    const wanting = new AbortController();
    this.#wanting = wanting;
    const options = how.steal === true ? how : { ...how, signal: wanting.signal };
    this.#locks
      .request(this.#port.lock, options, () => this.#sit(wanting.signal))
      .catch((thrown: unknown) => {
        if (!wanting.signal.aborted) this.#stolen(thrown);
      });
  }

  async #sit(wanted: AbortSignal): Promise<void> {
    if (wanted.aborted) return;
    const left = new Promise<void>((leave) => (this.#leave = leave));
    this.#answer();
    try {
      await this.#port.taken();
    } catch (thrown) {
      this.#port.fault("this tab can not write", thrown);
      this.#stand();
    }
    await left;
    if (!this.#isClosed && !wanted.aborted) setTimeout(() => this.#again(wanted), this.#port.beatMs);
  }

  /** Others had their turn. */
  #again(wanted: AbortSignal): void {
    if (!this.#isClosed && this.#wanting.signal === wanted) this.#want({});
  }

  #stand(): void {
    this.#leave?.();
    this.#leave = undefined;
  }

  #stolen(thrown: unknown): void {
    const wasHeld = this.isHeld;
    this.#stand();
    if (this.#isClosed) return;
    if (wasHeld) this.#port.lost();
    else this.#port.fault("the lock of the journal can not be had", thrown);
    this.#want({});
  }

  #answer(): void {
    if (this.isHeld) this.#port.channel.announce({ type: "beat", writer: this.#port.writer });
  }

  #beat(): void {
    if (this.isHeld) return;
    if (this.#missed < mostMissed) {
      this.#missed += 1;
      return this.#port.channel.post({ type: "asked" });
    }
    this.#missed = 0;
    this.#port.channel.post({ type: "stealing" });
    this.#want({ steal: true });
  }

  /** Leaves it to the next tab. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#beats);
    this.#wanting.abort();
    this.#stand();
  }
}
