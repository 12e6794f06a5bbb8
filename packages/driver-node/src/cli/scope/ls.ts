/** `pawl ls`: the scopes of a journal. */
import type { ScopeEntry } from "@pawl/runtime";
import { setTimeout as pause } from "node:timers/promises";
import { type Command, journalOption } from "../command.ts";
import { CliError, exit, usageError } from "../exit.ts";
import { type JournalFile, openJournalFile } from "../journal-file.ts";
import { besideOf, journalOf } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { type SeenRun, runReader, runText } from "./long-work.ts";
import { untilText } from "./time.ts";

const stateOf = ({ owner, wakeAt }: ScopeEntry, { now }: Terminal): string => {
  if (owner !== undefined) return `owned by ${owner}`;
  return wakeAt === undefined ? "parked" : `parked until ${untilText(wakeAt, now())}`;
};

/** A scope of the list, with the run that lives in it, or why that can not be read. */
interface Listed {
  readonly entry: ScopeEntry;
  readonly run: SeenRun | CliError | undefined;
}

const longText = (run: Listed["run"]): string => {
  if (run === undefined) return "";
  return run instanceof CliError ? `unreadable (${run.code})  ` : `${runText(run)}  `;
};

const rows = (listed: readonly Listed[], terminal: Terminal): readonly string[] => {
  const entries = listed.map(({ entry }) => entry);
  const width = Math.max(...entries.map(({ scope }) => scope.length), 5);
  const digits = Math.max(...entries.map(({ seq }) => String(seq).length), 6);
  const head = `${"scope".padEnd(width)}  ${"events".padStart(digits)}  epoch`;
  return [
    terminal.paint("dim", head),
    ...listed.map(({ entry, run }) => {
      const { scope, seq, epoch } = entry;
      const columns = `${scope.padEnd(width)}  ${String(seq).padStart(digits)}  ${String(epoch).padStart(5)}`;
      return `${columns}  ${longText(run)}${terminal.paint("dim", stateOf(entry, terminal))}`;
    }),
  ];
};

const lister = (journal: JournalFile, prefix: string, isOwned: boolean): (() => Promise<readonly Listed[]>) => {
  const runOf = runReader(journal);
  return async () => {
    const entries = (await journal.scopes(prefix)).filter(({ owner }) => owner !== undefined || !isOwned);
    return Promise.all(entries.map(async (entry) => ({ entry, run: await runOf(entry) })));
  };
};

const jsonOf = ({ entry, run }: Listed): object => {
  if (run === undefined) return entry;
  return run instanceof CliError ? { ...entry, unreadable: run.code } : { ...entry, run: run.row };
};

const tell = (file: string, list: readonly Listed[], terminal: Terminal): void => {
  const scopes = list.map(jsonOf);
  terminal.tell({ journal: file, scopes }, () => (list.length === 0 ? [`no scopes in ${file}`] : rows(list, terminal)));
};

const followEveryMs = 500;

/** What tells one list from the next. */
const seqs = (all: readonly Listed[]): string => all.map(({ entry }) => `${entry.scope}:${entry.seq}`).join(" ");

interface Following {
  readonly file: string;
  readonly list: () => Promise<readonly Listed[]>;
  /** What was told last. */
  readonly told: readonly Listed[];
}

/** Lists again what has changed, until it is interrupted. */
const follow = async ({ file, list, told }: Following, terminal: Terminal): Promise<void> => {
  let before = seqs(told);
  while (!terminal.interrupted.aborted) {
    await pause(followEveryMs, undefined, { signal: terminal.interrupted }).catch(() => undefined); // It ends the loop.
    const now = await list();
    if (seqs(now) === before) continue;
    before = seqs(now);
    tell(file, now, terminal);
  }
};

export const lsCommand: Command = {
  name: "ls",
  summary: "List the scopes of a journal",
  usage: "[journal]",
  least: 0,
  most: 1,
  options: {
    ...journalOption,
    prefix: { type: "string", value: "<text>", what: "Only scopes whose name begins so: process:" },
    owned: { type: "boolean", what: "Only scopes that have an owner" },
    follow: { type: "boolean", short: "f", what: "List them again whenever something has changed" },
  },
  json: [{ what: "The list; once more when it has changed, with --follow", fields: "journal, scopes" }],
  examples: [
    ["pawl ls journal.db", "all scopes"],
    ["pawl ls journal.db --prefix process: --json", "processes, for a script"],
    ["pawl ls journal.db --prefix process:bg_ --follow", "background runs, with how far they are"],
  ],
  run: async (input, terminal) => {
    const file = input.positionals[0] ?? journalOf(input, terminal);
    if (file.includes("#")) throw usageError(`pawl ls takes a journal, found \`${file}\``, `pawl show ${file}`);
    const journal = openJournalFile(file, besideOf(input, terminal));
    try {
      const list = lister(journal, input.text("prefix") ?? "", input.isSet("owned"));
      const told = await list();
      tell(file, told, terminal);
      if (input.isSet("follow")) await follow({ file, list, told }, terminal);
      return exit.fine;
    } finally {
      journal.close();
    }
  },
};
