/**
 * Commands written out: what stands in the `.cmds.jsonl` beside a golden log, one line an event, so that a difference
 * is seen field by field where the digest only says that there is one.
 */
import {
  type Json,
  type JsonObject,
  type Path,
  formatPath,
  noLimits,
  parse,
  stringify,
  stringifyRecord,
  ToolCallOutput,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Command } from "../kernel/vocabulary.ts";
import type { Fault, Produced } from "./fault.ts";
import { type Recorded, eventLine } from "./format.ts";
import { beginReading, Reader } from "./read.ts";
import { type Transition, nextDeadline } from "../machine.ts";
import { ReplyCodec } from "../request/model.ts";

/** A command holds values as the core does; on paper they stand encoded. */
const encodeCommand = (command: Command): Json => {
  const { output } = command as { readonly output?: ToolCallOutput };
  const coded = output === undefined ? command : { ...command, output: ToolCallOutput.encode(output) };
  const written = "replies" in command ? { ...coded, replies: command.replies.map(ReplyCodec.encode) } : coded;
  return written as Json;
};

/** Returns what an event produced: its commands and the next deadline. */
export const producedBy = ({ state, commands }: Pick<Transition, "state" | "commands">): Produced => {
  const deadline = nextDeadline(state);
  return deadline === undefined ? { commands } : { commands, deadline: { at: deadline.at, birth: deadline.birth } };
};

/** Writes the commands and the next deadline of an event in full, for a golden log. */
export const commandsLine = (seq: number, { commands, deadline }: Produced): string =>
  `${stringifyRecord({ seq, commands: commands.map(encodeCommand), deadline: deadline ?? null })}\n`;

export interface Against {
  /** The commands of the log, written out, from its first event on. */
  readonly commands?: Iterable<string>;
  /** A second log, from the same event on. */
  readonly log?: Iterable<string>;
}

/** Yields the lines of a text that comes in pieces. A last line without a line feed is dropped. */
export function* linesIn(chunks: Iterable<string>): Generator<string, undefined> {
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

interface Compared {
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

export interface Difference {
  readonly path: Path;
  /** Undefined: nothing stands there. */
  readonly expected: Json | undefined;
  readonly found: Json | undefined;
}

/** A place in both, on the way down; its path is only made where they differ. */
interface Place {
  readonly above: Place | undefined;
  readonly step: string | number;
  readonly expected: Json | undefined;
  readonly found: Json | undefined;
}

/** So many are told; the first ones tell the most. */
const most = 50;

const isContainer = (json: Json | undefined): json is readonly Json[] | JsonObject =>
  typeof json === "object" && json !== null;

const at = (json: object, step: string | number): Json | undefined =>
  Object.hasOwn(json, step) ? (json as JsonObject)[step] : undefined;

const stepsInto = (a: object, b: object): readonly (string | number)[] => {
  if (!Array.isArray(a) || !Array.isArray(b)) return [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return (a.length > b.length ? a : b).map((_, i) => i);
};

const pathOf = (place: Place): Path => {
  const path: (string | number)[] = [];
  for (let step = place; step.above !== undefined; step = step.above) path.push(step.step);
  return path.toReversed();
};

/** Depth first, in the order of what was expected; on a stack of its own, whatever the depth. */
export const differencesOf = (expected: Json, found: Json): readonly Difference[] => {
  const differences: Difference[] = [];
  const rest: Place[] = [{ above: undefined, step: "", expected, found }];
  for (let place = rest.pop(); place !== undefined && differences.length < most; place = rest.pop()) {
    const { expected: a, found: b } = place;
    if (a === b) continue;
    if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) {
      differences.push({ path: pathOf(place), expected: a, found: b });
      continue;
    }
    for (const step of stepsInto(a, b).toReversed()) {
      rest.push({ above: place, step, expected: at(a, step), found: at(b, step) });
    }
  }
  return differences;
};

const jsonText = (json: Difference["found"]): string => (json === undefined ? "nothing" : stringify(json));

const differenceText = ({ path, expected, found }: Difference): string =>
  `  ${formatPath(path)}: expected ${jsonText(expected)}, found ${jsonText(found)}`;

/** Describes a fault: the problem and its place, each difference, and in full what today's core does instead. */
export const describeFault = (fault: Fault): string => {
  const seq = fault.seq === undefined ? "" : `, event ${fault.seq}`;
  const path = "path" in fault ? ` at ${formatPath(fault.path)}` : "";
  const head = `${fault.code} in line ${fault.line}${seq}: ${fault.message}${path}`;
  if (!("today" in fault)) return head;
  const today = `  today: ${commandsLine(fault.seq, fault.today).slice(0, -1)}`;
  return [head, ...fault.differences.map(differenceText), today].join("\n");
};
