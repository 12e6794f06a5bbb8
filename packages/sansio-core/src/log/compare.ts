/**
 * Holds a log, event by event, against what else is known of it: its commands written out, or a second log. The digest
 * says that something differs; this says what.
 */
import { type Json, noLimits, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { commandsLine } from "./commands.ts";
import { type Difference, differencesOf } from "./difference.ts";
import type { Produced } from "./fault.ts";
import { type Recorded, eventLine } from "./format.ts";
import { Reader, beginReading } from "./read.ts";

export interface Against {
  /** The commands of the log, written out, from its first event on. */
  readonly commands?: Iterable<string>;
  /** A second log, from the same event on. */
  readonly log?: Iterable<string>;
}

/** The whole lines in pieces of text. */
function* linesIn(chunks: Iterable<string>): Generator<string, undefined> {
  let rest = "";
  for (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf("\n"); end !== -1; end = chunk.indexOf("\n", start)) {
      yield rest + chunk.slice(start, end + 1);
      rest = "";
      start = end + 1;
    }
    rest += chunk.slice(start);
  }
  return undefined;
}

/** The lines of the events of a log, as this code writes them; up to its first fault. */
function* eventLinesIn(chunks: Iterable<string>): Generator<string, undefined> {
  const read: string[] = [];
  const reader = new Reader(beginReading, {
    onHeader: () => undefined,
    onEvents: (events) => {
      read.push(...events.map(eventLine));
      return undefined;
    },
  });
  for (const chunk of chunks) {
    reader.take(chunk);
    yield* read.splice(0);
  }
  reader.finish();
  yield* read.splice(0);
  return undefined;
}

const jsonOf = (line: string): Json => E.getOrElse((): Json => line)(parse(line, noLimits));

/** Lines that are alike need no second look; what differs only in the order of its keys does not differ. */
const differencesOfLines = (expected: string | undefined, found: string): readonly Difference[] => {
  if (expected === found) return [];
  if (expected === undefined) return [{ path: [], expected: undefined, found: jsonOf(found) }];
  return differencesOf(jsonOf(expected), jsonOf(found));
};

export interface Compared {
  readonly code: "commands_differ" | "logs_differ";
  readonly differences: readonly Difference[];
}

export class Comparison {
  readonly #commands: Generator<string, undefined> | undefined;
  readonly #log: Generator<string, undefined> | undefined;

  constructor({ commands, log }: Against) {
    this.#commands = commands === undefined ? undefined : linesIn(commands);
    this.#log = log === undefined ? undefined : eventLinesIn(log);
  }

  get isIdle(): boolean {
    return this.#commands === undefined && this.#log === undefined;
  }

  /** The differences at the next event; undefined where there are none. */
  next(recorded: Recorded, today: Produced): Compared | undefined {
    const commands = this.#commands?.next();
    const log = this.#log?.next();
    if (commands !== undefined) {
      const differences = differencesOfLines(commands.value, commandsLine(recorded.seq, today));
      if (differences.length > 0) return { code: "commands_differ", differences };
    }
    if (log === undefined) return undefined;
    const differences = differencesOfLines(log.value, eventLine(recorded));
    return differences.length === 0 ? undefined : { code: "logs_differ", differences };
  }
}
