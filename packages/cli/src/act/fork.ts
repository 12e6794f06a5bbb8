/** `pawl fork`: starts a new scope from the first events of another one. */
import {
  type Event,
  EventCodec,
  type Recorded,
  type State,
  eventLine,
  initial,
  write,
  wakeAtOf,
} from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import type { Journal } from "@pawl/runtime";
import { linesIn } from "@pawl/sansio-core/driver";
import { type SteppedLine, isHash, packBlobs, unpackBlobs } from "@pawl/runtime/driver";
import { type Json, describe, hashText, noLimits, parse, readOwned, stringify } from "@pawl/tool-value";
import { type Command, countOf, journalOption } from "../command.ts";
import { shownJournal } from "../database.ts";
import { CliError, exit, usageError } from "../exit.ts";
import { openJournalFile } from "../journal-file.ts";
import { put } from "../log/import.ts";
import { replayLog, refuseToChangeSealed } from "../log/replay-log.ts";
import { placeOf, scopeNamed } from "../place.ts";
import { untilText } from "../scope/time.ts";

/** Keeps the old execution scope: recorded effects are found under it. */
const withExecutionScope = (from: string, event: Event): Event =>
  (event.type === "request.submitted" || event.type === "flow.submitted") && event.execution_scope === undefined
    ? { ...event, execution_scope: `${from}/${event.request}` }
    : event;

/** Replaces blob names that are sealed for the old scope by those of the new one. */
const withBlobNames = (recorded: Recorded, names: ReadonlyMap<string, string>): Recorded => {
  const text = stringify(EventCodec.encode(recorded.event) as Json);
  const changed = text.replaceAll(/(?<="id":"blob:)[0-9a-f]{64}(?=")/g, (name) => names.get(name) ?? name);
  if (changed === text) return recorded;
  const event = pipe(
    parse(changed, noLimits),
    E.chain((json) => readOwned(EventCodec, json)),
  );
  if (E.isLeft(event)) throw new TypeError(`an event with other names: ${describe(event.left)}`);
  return { ...recorded, event: event.right };
};

/** Copies the large values of the events into the new scope, so that no sweep deletes them meanwhile. */
const withBlobs = async (
  { blobs }: Journal,
  events: readonly Recorded[],
  from: string,
  into: string,
): Promise<readonly Recorded[]> => {
  const packed = await packBlobs(blobs, from, events.map(eventLine));
  const names = new Map(packed.map(({ blob }) => [blob, isHash(blob) ? blob : (blobs?.fresh?.() ?? blob)]));
  const own = packed.map(({ blob, bytes }) => ({ blob: names.get(blob) ?? blob, bytes }));
  await unpackBlobs(blobs, into, own, hashText);
  return events.map((recorded) => withBlobNames(recorded, names));
};

interface Forked {
  readonly state: State;
  readonly stepped: readonly SteppedLine[];
}

/** Writes the events again as those of another scope: commands and digests are computed anew. */
export const forkOf = (events: readonly Recorded[], from: string, into: string): Forked => {
  const stepped: SteppedLine[] = [];
  let state = initial(into);
  for (const { seq, at, event } of events) {
    const written = write(state, { seq, at, event: withExecutionScope(from, event) });
    if (E.isLeft(written)) {
      const { code, message } = written.left;
      throw new CliError(code, `event ${seq} of ${from} is rejected by ${into}: ${message}`, { exit: exit.refused });
    }
    const { line, finished } = written.right;
    state = written.right.state;
    stepped.push({ seq, line, finished });
  }
  return { state, stepped };
};

/** Live calls of a fork, and when a host of its journal resumes them unasked. */
interface Unfinished {
  readonly live: number;
  readonly due: number | undefined;
}

const unfinishedIn = (state: State): Unfinished => ({
  live: state.calls.rows().filter(({ phase }) => phase !== "completed").length,
  due: wakeAtOf(state),
});

const unfinishedCount = (live: number): readonly [what: string, it: string] => {
  if (live === 0) return ["unfinished work", "it"];
  return live === 1 ? ["1 live call", "it"] : [`${live} live calls`, "them"];
};

/** Says who continues the fork's live calls, and when. */
const unfinishedText = ({ live, due }: Unfinished, now: number): readonly string[] => {
  const [calls, them] = unfinishedCount(live);
  if (due === undefined) return live === 0 ? [] : [`  ${calls}: the next program that opens it continues ${them}`];
  const when = due <= now ? "within seconds, or as soon as one starts" : `by itself, ${untilText(due, now)}`;
  return [
    `  ${calls}: a host of this journal continues ${them} ${when}`,
    "  to avoid that, fork a copy in a journal without a host: pawl help fork",
  ];
};

const checkSession = (scope: string): void => {
  if (scope.startsWith("session:")) return;
  throw new CliError("not_a_session", `only sessions can be forked, found ${scope}`, {
    exit: exit.refused,
  });
};

export const forkCommand: Command = {
  name: "fork",
  summary: "Start a new scope from the first events of another one",
  usage: "<scope>",
  minArgs: 1,
  maxArgs: 1,
  options: {
    ...journalOption,
    at: { type: "string", value: "<seq>", what: "The last event to copy" },
    into: { type: "string", value: "<scope>", what: "The new scope (alice-fork-12)" },
  },
  detail:
    "The old scope does not change. Work that was unfinished at that event continues in the new scope as after a crash:\nsteps that were not recorded by then run again, with their effects. A host of the journal continues it within seconds;\na fork without unfinished work stays closed until somebody opens it. To inspect a fork without running it, make it in\na journal without a host: `pawl log export`, `pawl log import -j copy.db`, `pawl fork copy.db#alice --at 12`.",
  json: [{ what: "The new scope", fields: "scope, at, into, live, due?" }],
  examples: [
    ["pawl fork alice --at 12 -j journal.db", "into session:alice-fork-12"],
    ["pawl fork journal.db#alice --at 12 --into bob", "into session:bob"],
  ],
  run: async (input, terminal) => {
    const at = countOf(input, "at");
    if (at === undefined || at === 0) throw usageError("--at is missing", "add --at <seq>, from 1");
    const { file: name, scope, ...beside } = placeOf(input.positionals[0] ?? "", input, terminal);
    const file = shownJournal(name);
    if (scope === undefined) throw usageError(`no scope is named in ${file}`, `write ${file}#session:alice`);
    checkSession(scope);
    const into = scopeNamed(input.text("into") ?? `${scope}-fork-${at}`);
    checkSession(into);
    const journal = await openJournalFile(name, beside);
    try {
      refuseToChangeSealed(scope, linesIn(await journal.textOf(scope)));
      const events: Recorded[] = [];
      const log = { name: `${file}#${scope}`, text: () => journal.textOf(scope) };
      const { base } = await replayLog(log, terminal, {
        onStep: (recorded) => void (recorded.seq <= at && events.push(recorded)),
      });
      if (base !== undefined) {
        const message = `${scope} starts after event ${base.segment.base}: only complete logs can be forked`;
        throw new CliError("not_whole", message, { exit: exit.refused });
      }
      const last = events.at(-1)?.seq ?? 0;
      if (last < at) {
        const message = `${scope} has ${last} trusted events, but no event ${at}`;
        const hint = last === 0 ? "restore a backup" : `pawl fork ${file}#${scope} --at ${last}`;
        throw new CliError("no_such_event", message, { exit: exit.refused, hint });
      }
      const { state, stepped } = forkOf(await withBlobs(journal.journal, events, scope, into), scope, into);
      await put(journal.journal, { stepped, state }, "name another one with --into");
      const unfinished = unfinishedIn(state);
      terminal.print({ scope, at, into, ...unfinished }, () => [
        `${into} starts with ${at} events of ${scope}`,
        ...unfinishedText(unfinished, terminal.now()),
      ]);
      return exit.fine;
    } finally {
      await journal.close();
    }
  },
};
