/**
 * Pages of logs for those who follow them. A page is read and decoded once for all readers of a scope (an LRU cache over
 * the scopes of a runtime, bounded in characters), and one page is read at a time. So readers cost what their scopes
 * cost, however many they are.
 *
 * Pages follow each other from where the first reader began. Those who begin at the same cursor share all of them; one
 * who begins elsewhere joins where a page begins that it has come to.
 */
import * as E from "fp-ts/lib/Either.js";
import { type Recorded, type State, follow } from "@pawl/sansio-core";
import { Quarantined, recordedIn } from "../../scope/history.ts";
import type { Access } from "../../scope/access.ts";
import type { JournalLine } from "../../journal/journal.ts";
import { type Observed, observedIn } from "./observation.ts";

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
