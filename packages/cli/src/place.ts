/** Finds the log that an argument names: a file of JSON Lines, or a scope in a journal. */
import { type Input, type Options, journalOption } from "./command.ts";
import { CliError, exit, usageError } from "./exit.ts";
import { isDatabase, shownJournal } from "./database.ts";
import { type JournalFolders, type JournalFile, isJournal, openJournalFile } from "./journal-file.ts";
import type { ChainCheck, ChainHead, LogAttachments } from "@pawl/runtime/driver";
import type { Terminal } from "./terminal.ts";
import { isFile, textOfFile } from "./text-file.ts";

/** A log that can be read several times. */
export interface LogSource {
  /** The argument that names it. */
  readonly name: string;
  readonly text: () => Promise<Iterable<string>>;
  /** The text with attachments, for a scope in a journal. */
  readonly textAlong?: (along: LogAttachments) => Promise<Iterable<string>>;
  /** The host that sent it. */
  readonly host?: string;
  /** The scope and its journal, if it is in one. */
  readonly scope?: string;
  readonly journal?: JournalFile;
  /** The head of the hash chain that the journal keeps. */
  readonly storedHead?: () => Promise<ChainHead | undefined>;
  /** The result of comparing that chain with the lines. */
  readonly storedCheck?: () => Promise<ChainCheck | undefined>;
}

export interface Place extends JournalFolders {
  readonly file: string;
  /** The scope in a journal; without one, all of them. */
  readonly scope?: string;
}

/** Returns a full scope name; a bare name is a session's. */
export const scopeNamed = (name: string): string => (/^(?:session|process):/.test(name) ? name : `session:${name}`);

/** Returns the journal that the command line or the environment names. */
export const journalOf = (input: Input, { env }: Terminal): string => {
  const file = input.text("journal") ?? env["PAWL_JOURNAL"];
  if (file !== undefined && file !== "") return file;
  throw usageError("no journal is named", "add --journal <file or postgres://…>, or set PAWL_JOURNAL");
};

const given = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

const foldersOf = (keys: string | undefined, blobs: string | undefined): JournalFolders => ({
  ...(keys === undefined ? {} : { keys }),
  ...(blobs === undefined ? {} : { blobs }),
});

/** Returns the folders that the command line or the environment names. */
export const journalFolders = (input: Input, { env }: Terminal): JournalFolders =>
  foldersOf(given(input.text("keys") ?? env["PAWL_KEYS"]), given(input.text("blobs") ?? env["PAWL_BLOBS"]));

/** Returns only the folders that the command line names: a proposed command has to repeat them. */
export const givenFolders = (input: Input): JournalFolders =>
  foldersOf(given(input.text("keys")), given(input.text("blobs")));

/** Parses an argument: `file.jsonl`, `journal.db`, `journal.db#scope`, `postgres://…#scope`, or a scope of the named journal. */
export const placeOf = (argument: string, input: Input, terminal: Terminal): Place => ({
  ...bareOf(argument, input, terminal),
  ...journalFolders(input, terminal),
});

/** Parses an argument that names its own file or journal. */
export const placeIn = (argument: string): Place => {
  const hash = argument.indexOf("#");
  if (hash <= 0) return { file: argument };
  return { file: argument.slice(0, hash), scope: scopeNamed(argument.slice(hash + 1)) };
};

const bareOf = (argument: string, input: Input, terminal: Terminal): Place => {
  const own = placeIn(argument);
  if (own.scope !== undefined) return own;
  const isNamed = input.text("journal") !== undefined || terminal.env["PAWL_JOURNAL"] !== undefined;
  if (isDatabase(argument) || isFile(argument) || !isNamed) return { file: argument };
  return { file: journalOf(input, terminal), scope: scopeNamed(argument) };
};

export const placeOptions: Options = journalOption;

const ofJournal = async (journal: JournalFile, scope: string | undefined): Promise<readonly LogSource[]> => {
  const scopes = scope === undefined ? (await journal.scopes()).map((entry) => entry.scope) : [scope];
  return scopes.map((one) => ({
    name: `${journal.file}#${one}`,
    scope: one,
    text: () => journal.textOf(one),
    textAlong: (along) => journal.textOf(one, along),
    journal,
    storedHead: () => journal.journal.head(one),
    storedCheck: () => journal.journal.verify(one),
  }));
};

/** Opens the logs of several places and closes their journals afterwards. */
export const withLogs = async <A>(
  places: readonly Place[],
  use: (logs: readonly LogSource[]) => Promise<A>,
): Promise<A> => {
  const journals: JournalFile[] = [];
  try {
    const logs: LogSource[] = [];
    for (const place of places) {
      const { file, scope } = place;
      if (isJournal(file)) {
        const journal = await openJournalFile(file, place);
        journals.push(journal);
        logs.push(...(await ofJournal(journal, scope)));
      } else if (scope === undefined) logs.push({ name: file, text: async () => textOfFile(file) });
      else throw usageError(`${file} is not a journal, so it has no scope ${scope}`);
    }
    return await use(logs);
  } finally {
    await Promise.all(journals.map((journal) => journal.close()));
  }
};

/** Opens exactly one log. */
export const withLog = <A>(place: Place, use: (log: LogSource) => Promise<A>): Promise<A> =>
  withLogs([place], ([log, ...more]) => {
    if (log !== undefined && more.length === 0) return use(log);
    const count = log === undefined ? "no scopes" : `${more.length + 1} scopes`;
    const shown = shownJournal(place.file);
    throw new CliError("which_scope", `${shown} has ${count}, expected one`, {
      exit: exit.usage,
      hint: `name one: ${shown}#${log === undefined ? "session:alice" : log.name.split("#")[1]}`,
    });
  });
