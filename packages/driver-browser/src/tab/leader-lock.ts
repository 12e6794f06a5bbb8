/**
 * Leader election among the tabs of one journal: the leader is the tab that holds a Web Lock. The browser passes the lock on when
 * that tab closes or crashes. A tab that hangs loses the lock after three unanswered questions. Questions are used instead of a
 * clock because the timers of a background tab are throttled and its messages are not. The lock only says who should write;
 * the writer's fence in the database refuses all others.
 */
import { BrowserJournalError } from "../journal/error.ts";
import type { Channel } from "./broadcast.ts";

export interface LeaderLockPort {
  readonly lock: string;
  readonly writer: string;
  readonly channel: Channel;
  readonly beatMs: number;
  /** Called when this tab becomes the leader; the lock is released if it fails. */
  readonly taken: () => Promise<void>;
  /** Called when another tab has stolen the lock. */
  readonly lost: () => void;
  readonly fault: (what: string, thrown: unknown) => void;
}

const mostMissed = 3;

/** Returns the locks of this page, or throws if there are none. */
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

  /** Queues for the lock, or steals it. */
  #want(how: LockOptions): void {
    this.#wanting.abort();
    const wanting = new AbortController();
    this.#wanting = wanting;
    const options = how.steal === true ? how : { ...how, signal: wanting.signal };
    this.#locks
      .request(this.#port.lock, options, () => this.#hold(wanting.signal))
      .catch((thrown: unknown) => {
        if (!wanting.signal.aborted) this.#stolen(thrown);
      });
  }

  async #hold(wanted: AbortSignal): Promise<void> {
    if (wanted.aborted) return;
    const left = new Promise<void>((leave) => (this.#leave = leave));
    this.#answer();
    try {
      await this.#port.taken();
    } catch (thrown) {
      this.#port.fault("this tab cannot write", thrown);
      this.#letGo();
    }
    await left;
    if (!this.#isClosed && !wanted.aborted) setTimeout(() => this.#again(wanted), this.#port.beatMs);
  }

  /** Queues again, after the other tabs had their turn. */
  #again(wanted: AbortSignal): void {
    if (!this.#isClosed && this.#wanting.signal === wanted) this.#want({});
  }

  #letGo(): void {
    this.#leave?.();
    this.#leave = undefined;
  }

  #stolen(thrown: unknown): void {
    const wasHeld = this.isHeld;
    this.#letGo();
    if (this.#isClosed) return;
    if (wasHeld) this.#port.lost();
    else this.#port.fault("the lock of the journal is not available", thrown);
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

  /** Passes the lock to the next tab. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#beats);
    this.#wanting.abort();
    this.#letGo();
  }
}
