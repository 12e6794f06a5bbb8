/**
 * The alarm of an object, and the waits that it rings for. The platform keeps one alarm: it outlives the object's memory, and each
 * time it is set is a row written. So it is set only where it would ring too late otherwise, and rings in vain at times.
 *
 * A timer keeps an object in memory, and memory costs. Only short waits have timers; for longer ones the alarm rings. A wait
 * that an eviction ends is of something that the log or the mail brings back, or of nothing that matters then.
 */
import type { Platform } from "@pawl/runtime/driver";
import { hashText } from "@pawl/tool-value";
import type { ObjectStorage } from "./object.ts";

/** Time after which the alarm looks after work that should have gone on by itself. */
export const watchdogMs = 5000;

/** Waits above this are the alarm's. */
const nearMs = 5000;
/** Waits above this are none: the scope of an object stays in memory until the platform evicts the object. */
const neverMs = 1e12;

export class Alarm {
  readonly #storage: ObjectStorage;
  readonly #report: (what: string, thrown: unknown) => void;
  /** Resolves once it is known when the alarm rings. Nothing may be written before. */
  readonly ready: Promise<void>;
  #at = Infinity;

  constructor(storage: ObjectStorage, report: (what: string, thrown: unknown) => void) {
    this.#storage = storage;
    this.#report = report;
    this.ready = storage.getAlarm().then((at) => void (this.#at = at ?? Infinity));
  }

  /** Makes the alarm ring at a time, or before. In the turn of a write it is set with that write, or not at all. */
  ring(at: number): void {
    const wanted = Math.ceil(Math.max(at, Date.now()));
    if (!Number.isFinite(wanted) || wanted >= this.#at) return;
    this.#at = wanted;
    this.#storage.setAlarm(wanted).catch((thrown: unknown) => {
      this.#at = Infinity;
      this.#report("the alarm was not set", thrown);
    });
  }

  /** Makes the alarm ring for work that is due at a time: where that has passed, after a while. */
  lookAfter(at: number): void {
    const now = Date.now();
    this.ring(at <= now ? now + watchdogMs : at);
  }

  /** Takes note that it rings: from now on none is set. */
  rung(): void {
    this.#at = Infinity;
  }
}

interface Wait {
  readonly at: number;
  readonly ring: () => void;
}

export class Waits {
  readonly #alarm: Alarm;
  readonly #all = new Set<Wait>();

  constructor(alarm: Alarm) {
    this.#alarm = alarm;
  }

  /** Calls back after some milliseconds: by a timer, or by the alarm. */
  readonly later = (ms: number, then: () => void): (() => void) => {
    if (ms >= neverMs) return () => undefined;
    if (ms <= nearMs) {
      const timer = setTimeout(then, ms);
      return () => clearTimeout(timer);
    }
    const wait = { at: Date.now() + ms, ring: then };
    this.#all.add(wait);
    this.#alarm.ring(wait.at);
    return () => void this.#all.delete(wait);
  };

  /** Calls back those whose time has come. */
  ring(): void {
    const now = Date.now();
    for (const wait of [...this.#all].filter(({ at }) => at <= now).toSorted((a, b) => a.at - b.at))
      if (this.#all.delete(wait)) wait.ring();
  }

  /** The time of the next; infinite where there is none. */
  get next(): number {
    return Math.min(...[...this.#all].map(({ at }) => at));
  }
}

/**
 * Gives a runtime the clocks and turns of workerd. A message is no turn there: it comes before timers and IO, so that a program
 * that goes from message to message would keep all else waiting.
 */
export const platformOf = ({ later }: Pick<Waits, "later">): Platform => ({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  later,
  nextTurn: (then) => void setTimeout(then, 0),
  hashText,
});
