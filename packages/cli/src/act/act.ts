/** Shared parts of the commands that change a scope: options, the target, and the result. */
import type { Event, State } from "@pawl/sansio-core";
import { type Json, formatPath, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Input, type Options, type JsonDocument, journalOption } from "../command.ts";
import { shownJournal } from "../database.ts";
import { CliError, type Exit, exit, usageError } from "../exit.ts";
import { type JournalFile, openJournalFile } from "../journal-file.ts";
import { placeOf } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { stateOf } from "../log/replay-log.ts";
import { hostOptions } from "./remote.ts";
import { writeInto } from "./writer.ts";

export const actOptions: Options = {
  ...journalOption,
  ...hostOptions,
  by: {
    type: "string",
    value: "<name>",
    what: "The name to record for this decision (USER); a host takes it from the token",
  },
};

export const actJson: readonly JsonDocument[] = [
  { what: "The recorded event", fields: "scope, seq, event, call?, phase?" },
  { what: "With --host", fields: "scope, done" },
];

export const byOf = (input: Input, { env }: Terminal): string => input.text("by") ?? env["USER"] ?? "cli";

/** Parses JSON from the command line. */
export const jsonArgument = (name: string, text: string): Json => {
  const json = parse(text);
  if (E.isRight(json)) return json.right;
  const { message, path } = json.left;
  throw usageError(`--${name} expects JSON, found ${JSON.stringify(text)}: ${message} at ${formatPath(path)}`);
};

/** A scope of a journal, with its state before the command records anything. */
export interface Target {
  readonly file: string;
  readonly scope: string;
  readonly journal: JournalFile;
  readonly state: State;
}

export const withTarget = async <A>(
  input: Input,
  terminal: Terminal,
  work: (target: Target) => Promise<A>,
): Promise<A> => {
  const { file, scope, ...beside } = placeOf(input.positionals[0] ?? "", input, terminal);
  const shown = shownJournal(file);
  if (scope === undefined)
    throw usageError(`no scope is named in ${shown}`, `write ${shown}#session:alice, or add --journal`);
  const journal = await openJournalFile(file, beside);
  try {
    return await work({ file: shown, scope, journal, state: await stateOf(journal, scope) });
  } finally {
    await journal.close();
  }
};

/** Records an event in a scope and prints the new phase of its call. */
export const act = async (
  { scope, journal }: Target,
  terminal: Terminal,
  event: Event,
  { call, done }: { readonly call?: string; readonly done: string },
): Promise<Exit> => {
  const state = await writeInto(journal, scope, terminal.now, (writer) => writer.apply(event));
  const phase = call === undefined ? undefined : (state.calls.at(call)?.phase ?? "ended");
  terminal.print({ scope, seq: state.seq, event: event.type, call, phase }, () => [
    `${terminal.paint("green", done)}${phase === undefined ? "" : `; the call is ${phase} now`}`,
  ]);
  return exit.fine;
};

export const noSuchCall = ({ scope, file }: Target, call: string): CliError =>
  new CliError("no_such_call", `${scope} has no live call ${call}`, {
    exit: exit.refused,
    hint: `pawl why ${file}#${scope}`,
  });
