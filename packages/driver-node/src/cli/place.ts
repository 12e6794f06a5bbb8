/** Where a log is: in a file of JSON Lines, or in a journal under the name of its scope. */
import { type Input, type Options, journalOption } from "./command.ts";
import { CliError, exit, usageError } from "./exit.ts";
import { type JournalFolders, type JournalFile, openJournalFile } from "./journal-file.ts";
import type { ChainCheck, ChainHead, LogAttachments } from "@pawl/runtime";
import type { Terminal } from "./terminal.ts";
import { isFile, isJournalFile, textOfFile } from "./text-file.ts";

/** A log that can be read, as often as it is asked for. */
export interface LogSource {
  /** As a person would ask for it again. */
  readonly name: string;
  readonly text: () => Promise<Iterable<string>>;
  /** Of a scope in a journal: the same, with bytes of attachments that it names. */
  readonly textAlong?: (along: LogAttachments) => Promise<Iterable<string>>;
  /** The host that told it. */
  readonly host?: string;
  /** The journal that it is in, and the scope there. */
  readonly scope?: string;
  readonly journal?: JournalFile;
  /** Of a scope in a journal: the chain over its appends that the journal keeps. */
  readonly storedHead?: () => Promise<ChainHead | undefined>;
  /** What that chain says of the lines as they stand. */
  readonly storedCheck?: () => Promise<ChainCheck | undefined>;
}

export interface Place extends JournalFolders {
  readonly file: string;
  /** Of a journal: the scope; without one all of them are meant. */
  readonly scope?: string;
}

/** A bare name is a session's. */
export const scopeNamed = (name: string): string => (/^(?:session|process):/.test(name) ? name : `session:${name}`);

/** The journal that a command line or its environment names. */
export const journalOf = (input: Input, { env }: Terminal): string => {
  const file = input.text("journal") ?? env["PAWL_JOURNAL"];
  if (file !== undefined && file !== "") return file;
  throw usageError("no journal is named", "add --journal <file>, or set PAWL_JOURNAL");
};

const given = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

const foldersOf = (keys: string | undefined, blobs: string | undefined): JournalFolders => ({
  ...(keys === undefined ? {} : { keys }),
  ...(blobs === undefined ? {} : { blobs }),
});

/** The folders that a command line or its environment names beside a journal. */
export const journalFolders = (input: Input, { env }: Terminal): JournalFolders =>
  foldersOf(given(input.text("keys") ?? env["PAWL_KEYS"]), given(input.text("blobs") ?? env["PAWL_BLOBS"]));

/** Those that the command line alone names: another one has to name them again. */
export const givenFolders = (input: Input): JournalFolders =>
  foldersOf(given(input.text("keys")), given(input.text("blobs")));

/** What an argument means: `file.jsonl`, `journal.db`, `journal.db#scope`, or a scope of the journal that is named. */
export const placeOf = (argument: string, input: Input, terminal: Terminal): Place => ({
  ...bareOf(argument, input, terminal),
  ...journalFolders(input, terminal),
});

const bareOf = (argument: string, input: Input, terminal: Terminal): Place => {
  const hash = argument.indexOf("#");
  if (hash > 0) return { file: argument.slice(0, hash), scope: scopeNamed(argument.slice(hash + 1)) };
  const isNamed = input.text("journal") !== undefined || terminal.env["PAWL_JOURNAL"] !== undefined;
  if (isFile(argument) || !isNamed) return { file: argument };
  return { file: journalOf(input, terminal), scope: scopeNamed(argument) };
};

export const placeOptions: Options = journalOption;

const ofJournal = async (journal: JournalFile, { file, scope }: Place): Promise<readonly LogSource[]> => {
  const scopes = scope === undefined ? (await journal.scopes()).map((entry) => entry.scope) : [scope];
  return scopes.map((one) => ({
    name: `${file}#${one}`,
    scope: one,
    text: () => journal.textOf(one),
    textAlong: (along) => journal.textOf(one, along),
    journal,
    storedHead: () => journal.journal.head(one),
    storedCheck: () => journal.journal.verify(one),
  }));
};

/** Opens the logs that are meant, and closes their journals afterwards. */
export const withLogs = async <A>(
  places: readonly Place[],
  use: (logs: readonly LogSource[]) => Promise<A>,
): Promise<A> => {
  const journals: JournalFile[] = [];
  try {
    const logs: LogSource[] = [];
    for (const place of places) {
      const { file, scope } = place;
      if (isJournalFile(file)) {
        const journal = openJournalFile(file, place);
        journals.push(journal);
        logs.push(...(await ofJournal(journal, place)));
      } else if (scope === undefined) logs.push({ name: file, text: async () => textOfFile(file) });
      else throw usageError(`${file} is no journal, so that there is no scope ${scope} in it`);
    }
    return await use(logs);
  } finally {
    for (const journal of journals) journal.close();
  }
};

/** As `withLogs`, where one log is wanted. */
export const withLog = <A>(place: Place, use: (log: LogSource) => Promise<A>): Promise<A> =>
  withLogs([place], ([log, ...more]) => {
    if (log !== undefined && more.length === 0) return use(log);
    const count = log === undefined ? "no scopes" : `${more.length + 1} scopes`;
    throw new CliError("which_scope", `${place.file} has ${count}, wanted one`, {
      exit: exit.usage,
      hint: `name one: ${place.file}#${log === undefined ? "session:alice" : log.name.split("#")[1]}`,
    });
  });
