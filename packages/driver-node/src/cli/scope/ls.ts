/** `pawl ls`: the scopes of a journal. */
import type { ScopeEntry } from "@pawl/runtime";
import { type Command, journalOption } from "../command.ts";
import { exit, usageError } from "../exit.ts";
import { openJournalFile } from "../journal-file.ts";
import { journalOf } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { untilText } from "./time.ts";

const stateOf = ({ owner, wakeAt }: ScopeEntry, { now }: Terminal): string => {
  if (owner !== undefined) return `owned by ${owner}`;
  return wakeAt === undefined ? "parked" : `parked until ${untilText(wakeAt, now())}`;
};

const rows = (entries: readonly ScopeEntry[], terminal: Terminal): readonly string[] => {
  const width = Math.max(...entries.map(({ scope }) => scope.length), 5);
  const digits = Math.max(...entries.map(({ seq }) => String(seq).length), 6);
  const head = `${"scope".padEnd(width)}  ${"events".padStart(digits)}  epoch`;
  return [
    terminal.paint("dim", head),
    ...entries.map((entry) => {
      const { scope, seq, epoch } = entry;
      const columns = `${scope.padEnd(width)}  ${String(seq).padStart(digits)}  ${String(epoch).padStart(5)}`;
      return `${columns}  ${terminal.paint("dim", stateOf(entry, terminal))}`;
    }),
  ];
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
  },
  examples: [
    ["pawl ls journal.db", "all scopes"],
    ["pawl ls journal.db --prefix process: --json", "processes, for a script"],
  ],
  run: async (input, terminal) => {
    const file = input.positionals[0] ?? journalOf(input, terminal);
    if (file.includes("#")) throw usageError(`pawl ls takes a journal, found \`${file}\``, `pawl show ${file}`);
    const journal = openJournalFile(file);
    try {
      const prefix = input.text("prefix") ?? "";
      const entries = (await journal.scopes(prefix)).filter(
        ({ owner }) => owner !== undefined || !input.isSet("owned"),
      );
      terminal.tell({ journal: file, scopes: entries }, () =>
        entries.length === 0 ? [`no scopes in ${file}`] : rows(entries, terminal),
      );
      return exit.fine;
    } finally {
      journal.close();
    }
  },
};
