/**
 * Pages of logs for those who follow them. A page is read and decoded once for all readers of a scope (an LRU cache over
 * the scopes of a runtime, bounded in characters), and one page is read at a time. So readers cost what their scopes
 * cost, however many they are.
 *
 * Pages follow each other from where the first reader began. Those who begin at the same cursor share all of them; one
 * who begins elsewhere joins where a page begins that it has come to.
 *
 * A log is read from a cursor: its events as they become durable (tail), or what observers saw of them.
 */
import * as E from "fp-ts/lib/Either.js";
import { type Recorded, type State, follow } from "@pawl/sansio-core";
import { Quarantined, recordedIn, turn } from "../../scope/history.ts";
import type { Access } from "../../scope/access.ts";
import type { JournalLine } from "../../journal/journal.ts";
import { type Observed, observedIn, type Cursor, type Frame, endOf, isAfter } from "./observation.ts";
import { aheadOf, Refused } from "../../error.ts";
import type { UnderWay } from "../../lifecycle/eviction.ts";

/** The characters of a page. One line may have more. */
const pageChars = 128 * 1024;
/** The characters of all pages that are kept for further readers. */
const keptChars = 8 * 1024 * 1024;
const mostLines = 500;
const fewestLines = 8;

/** The observations of a page, and the state after it. */
interface Replayed {
  readonly after: State;
  readonly frames: readonly Observed[];
}

export interface LogPage {
  readonly first: number;
  readonly last: number;
  readonly events: readonly Recorded[];
  readonly chars: number;
  replayed?: Replayed;
}

/** Keeps the lines that fit a page, and at least one. */
const fittingOf = (lines: readonly JournalLine[]): readonly JournalLine[] => {
  let chars = 0;
  const end = lines.findIndex(({ line }) => (chars += line.length) > pageChars);
  return end === -1 ? lines : lines.slice(0, Math.max(1, end));
};

export class LogPages {
  /** The least recently used first, with the pages of the same scope. */
  readonly #kept = new Map<LogPage, Map<number, LogPage>>();
  /** By the runner of a scope, which lives as long as the scope is in memory. */
  readonly #ofScope = new WeakMap<object, Map<number, LogPage>>();
  #chars = 0;
  #reading: Promise<unknown> = Promise.resolve();
  #lines = fewestLines;

  /** Returns the page that begins with an event; undefined if the log does not have it. */
  async at(access: Access, first: number): Promise<LogPage | undefined> {
    const known = this.#known(access, first);
    if (known !== undefined) return known;
    const read = this.#reading.then(() => this.#known(access, first) ?? this.#read(access, first));
    this.#reading = read.catch(() => undefined); // Whoever asked for it is told.
    return read;
  }

  #pagesOf({ runner }: Access): Map<number, LogPage> {
    const pages = this.#ofScope.get(runner) ?? new Map<number, LogPage>();
    this.#ofScope.set(runner, pages);
    return pages;
  }

  #known(access: Access, first: number): LogPage | undefined {
    const pages = this.#pagesOf(access);
    const page = pages.get(first);
    if (page === undefined) return undefined;
    this.#kept.delete(page);
    this.#kept.set(page, pages);
    return page;
  }

  async #read(access: Access, first: number): Promise<LogPage | undefined> {
    const lines = await access.readLines(first, first + this.#lines - 1);
    const fitting = fittingOf(lines);
    const [begin] = fitting;
    if (begin?.seq !== first) return undefined;
    const isWhole = fitting.length === lines.length;
    this.#lines = isWhole ? Math.min(mostLines, this.#lines * 2) : Math.max(fewestLines, fitting.length);
    const chars = fitting.reduce((sum, { line }) => sum + line.length, 0);
    const events = fitting.map((line) => recordedIn(access.runner.id, line));
    return this.#keep(access, { first, last: first + fitting.length - 1, events, chars });
  }

  #keep(access: Access, page: LogPage): LogPage {
    const pages = this.#pagesOf(access);
    pages.set(page.first, page);
    this.#kept.set(page, pages);
    this.#chars += page.chars;
    for (const [oldest, among] of this.#kept) {
      if (this.#chars <= keptChars || oldest === page) break;
      this.#kept.delete(oldest);
      among.delete(oldest.first);
      this.#chars -= oldest.chars;
    }
    return page;
  }
}

/** Folds a page into the state before it, once for all readers: the log determines that state. */
export const replayed = (scope: string, page: LogPage, before: State): Replayed => {
  if (page.replayed !== undefined) return page.replayed;
  let after = before;
  const frames: Observed[] = [];
  for (const [i, recorded] of page.events.entries()) {
    const seq = page.first + i;
    const followed = follow(after, recorded, seq);
    if (E.isLeft(followed)) throw new Quarantined(scope, `event ${seq} cannot be followed`, followed.left);
    after = followed.right.state;
    frames.push(...observedIn(scope, recorded, followed.right.commands));
  }
  page.replayed = { after, frames };
  return page.replayed;
};

/** Says what a log has instead of an event that retention has taken: lines that it kept stand alone. */
const missing = async ({ begun, readLines, runner }: Access, next: number): Promise<Refused> => {
  const [found] = await readLines(next, next + nearLines);
  const what =
    found === undefined
      ? `it is whole from event ${(await begun()).seq + 1} on`
      : `the next that it has is ${found.seq}`;
  return new Refused("gone", `the log of ${runner.id} has no event ${next} any more, ${what}`);
};
const nearLines = 500;

/**
 * Yields the events after a cursor, then each as it becomes durable, until the signal aborts. Throws `gone` where the
 * log does not go back as far.
 */
export async function* followLog(access: Access, after: number, signal: AbortSignal): AsyncGenerator<Recorded> {
  const { runner, pages } = access;
  const end = runner.durable.seq;
  if (after > end) throw aheadOf(runner.id, end, after);
  for (let next = after + 1; ;) {
    await runner.whenDurable(next, signal);
    if (signal.aborted) return;
    if (next > runner.durable.seq) continue; // Messages that are written without an event wake as well.
    const page = await pages.at(access, next);
    if (page === undefined) throw await missing(access, next);
    for (const recorded of page.events) {
      yield recorded;
      if (signal.aborted) return;
    }
    next = page.last + 1;
  }
}

/** Holds the scope in memory while a log is read: to its end, until nobody reads on, or until the signal aborts. */
export async function* held<A>(underWay: UnderWay, all: AsyncGenerator<A>, signal: AbortSignal): AsyncGenerator<A> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  signal.addEventListener("abort", resolve);
  void underWay.during(promise);
  try {
    yield* all;
  } finally {
    signal.removeEventListener("abort", resolve);
    resolve(undefined);
  }
}

/**
 * Yields the observations after a cursor up to an event. What retention has taken is a gap. Retention may also take a
 * page that is still to be read: then it is a gap up to where the log begins by then.
 */
export async function* observePast(access: Access, after: Cursor, upTo: number): AsyncGenerator<Frame> {
  const { runner, pages } = access;
  const { id: scope } = runner;
  await runner.whenDurable();
  let state = await access.begun();
  if (after.seq < Math.min(state.seq, upTo)) yield gapTo(scope, after, Math.min(state.seq, upTo));
  while (state.seq < upTo) {
    const page = await pages.at(access, state.seq + 1);
    if (page === undefined) {
      const { seq } = state;
      state = await access.begun();
      if (state.seq <= seq) throw await missing(access, seq + 1);
      const from = after.seq > seq ? after : endOf(scope, seq);
      if (from.seq < state.seq) yield gapTo(scope, from, Math.min(state.seq, upTo)); // More is shown as it happens.
      continue;
    }
    const { frames, after: next } = replayed(scope, page, state);
    state = next;
    for (const frame of frames) {
      if (frame.cursor.seq <= upTo && isAfter(frame.cursor, after)) yield await access.values.of(frame);
    }
    await turn(access.platform);
  }
}

const gapTo = (scope: string, from: Cursor, seq: number): Frame => ({
  type: "gap",
  from,
  to: { scope, seq, index: 0 },
});
