/** `pawl log diff`: compares two logs event by event and field by field. */
import { EventCodec, type Fault, type Recorded } from "@pawl/sansio-core";
import {
  type Difference,
  HeaderCodec,
  type Reading,
  beginReading,
  differencesOf,
  endReading,
  feed,
} from "@pawl/sansio-core/driver";
import { type Json, formatPath, stringify } from "@pawl/tool-value";
import { type Command, countOf } from "../command.ts";
import { CliError, exit } from "../exit.ts";
import { type LogSource, placeOf, placeOptions, withLog } from "../place.ts";
import type { Terminal } from "../terminal.ts";

interface Read {
  readonly header: Json;
  readonly events: readonly Recorded[];
}

const unreadable = (name: string, { code, line, message }: Fault): CliError =>
  new CliError(code, `${name}, line ${line}: ${message}`, { exit: exit.wrong, hint: `pawl log verify ${name}` });

const readLog = async ({ name, text }: LogSource): Promise<Read> => {
  let reading: Reading = beginReading;
  const events: Recorded[] = [];
  for (const piece of await text()) {
    const fed = feed(reading, piece);
    reading = fed.reading;
    events.push(...fed.events);
  }
  const end = endReading(reading);
  if (end?.type === "fault") throw unreadable(name, end);
  return { header: reading.header === undefined ? null : (HeaderCodec.encode(reading.header) as Json), events };
};

const jsonOf = ({ event, ...envelope }: Recorded): Json => ({ ...envelope, event: EventCodec.encode(event) as Json });

interface EventDifference {
  readonly seq: number;
  readonly differences: readonly Difference[];
}

/** Returns the events that differ at the same sequence. */
const differingEvents = (a: Read, b: Read, most: number): readonly EventDifference[] => {
  const others = new Map(b.events.map((recorded) => [recorded.seq, recorded]));
  const found: EventDifference[] = [];
  for (const recorded of a.events) {
    const other = others.get(recorded.seq);
    if (other === undefined || found.length === most) continue;
    const differences = differencesOf(jsonOf(recorded), jsonOf(other));
    if (differences.length > 0) found.push({ seq: recorded.seq, differences });
  }
  return found;
};

const textOf = (json: Json | undefined): string => (json === undefined ? "nothing" : stringify(json));

const differenceLines = (differences: readonly Difference[], { paint }: Terminal): readonly string[] =>
  differences.flatMap(({ path, expected, found }) => [
    `  ${paint("bold", formatPath(path))}`,
    `    ${paint("red", `- ${textOf(expected)}`)}`,
    `    ${paint("green", `+ ${textOf(found)}`)}`,
  ]);

/** Counts the events that only one log has: behind the other's end, or before retention cut it. */
const moreIn = (a: Read, b: Read): number => {
  const others = new Set(b.events.map(({ seq }) => seq));
  return a.events.filter(({ seq }) => !others.has(seq)).length;
};

export const logDiff: Command = {
  name: "log diff",
  summary: "Show where two logs differ, event by event and field by field",
  usage: "<log> <log>",
  minArgs: 2,
  maxArgs: 2,
  options: { ...placeOptions, most: { type: "string", value: "<n>", what: "Maximum number of events to show (10)" } },
  json: [{ what: "Both", fields: "same, header, events, more_in_first, more_in_second" }],
  examples: [["pawl log diff before.jsonl journal.db#alice", "compare a file with a scope"]],
  run: (input, terminal) => {
    const [one = "", two = ""] = input.positionals;
    const at = (argument: string) => placeOf(argument, input, terminal);
    const most = countOf(input, "most") ?? 10;
    return withLog(at(one), (first) =>
      withLog(at(two), async (second) => {
        const [a, b] = [await readLog(first), await readLog(second)];
        const header = differencesOf(a.header, b.header);
        const events = differingEvents(a, b, most);
        const [moreInFirst, moreInSecond] = [moreIn(a, b), moreIn(b, a)];
        const isSame = events.length + moreInFirst + moreInSecond === 0;
        terminal.print(
          { same: isSame, header, events, more_in_first: moreInFirst, more_in_second: moreInSecond },
          () => [
            ...(header.length > 0 ? ["header", ...differenceLines(header, terminal)] : []),
            ...events.flatMap(({ seq, differences }) => [`event ${seq}`, ...differenceLines(differences, terminal)]),
            ...(moreInFirst > 0 ? [`${first.name} has ${moreInFirst} more events`] : []),
            ...(moreInSecond > 0 ? [`${second.name} has ${moreInSecond} more events`] : []),
            ...(isSame ? [`${a.events.length} events are the same`] : []),
          ],
        );
        return isSame ? exit.fine : exit.wrong;
      }),
    );
  },
};
