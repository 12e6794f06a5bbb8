/** `pawl ls`: the scopes of a journal. */
import { setTimeout as pause } from "node:timers/promises";
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

const followEveryMs = 250;

/** Of a scope, what is news when it is another. */
const standing = ({ seq, epoch, owner }: ScopeEntry): string => JSON.stringify([seq, epoch, owner]);

/** Tells each scope that is new or has got on, until it is interrupted. */
const follow = async (
  look: () => Promise<readonly ScopeEntry[]>,
  first: readonly ScopeEntry[],
  terminal: Terminal,
): Promise<void> => {
  const known = new Map(first.map((entry) => [entry.scope, standing(entry)]));
  while (!terminal.interrupted.aborted) {
    await pause(followEveryMs, undefined, { signal: terminal.interrupted }).catch(() => undefined); // It ends the loop.
    for (const entry of await look()) {
      if (known.get(entry.scope) === standing(entry)) continue;
      known.set(entry.scope, standing(entry));
      terminal.tell(entry, () => rows([entry], terminal).slice(1));
    }
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
    follow: { type: "boolean", short: "f", what: "Go on with every scope that is new or gets on" },
    owned: { type: "boolean", what: "Only scopes that have an owner" },
  },
  examples: [
    ["pawl ls journal.db", "all scopes"],
    ["pawl ls journal.db --follow", "and what gets on, from now on"],
    ["pawl ls journal.db --prefix process: --json", "processes, for a script"],
  ],
  run: async (input, terminal) => {
    const file = input.positionals[0] ?? journalOf(input, terminal);
    if (file.includes("#")) throw usageError(`pawl ls takes a journal, found \`${file}\``, `pawl show ${file}`);
    const journal = openJournalFile(file);
    try {
      const prefix = input.text("prefix") ?? "";
      const look = async (): Promise<readonly ScopeEntry[]> =>
        (await journal.scopes(prefix)).filter(({ owner }) => owner !== undefined || !input.isSet("owned"));
      const entries = await look();
      terminal.tell({ journal: file, scopes: entries }, () =>
        entries.length === 0 ? [`no scopes in ${file}`] : rows(entries, terminal),
      );
      if (input.isSet("follow")) await follow(look, entries, terminal);
      return exit.fine;
    } finally {
      journal.close();
    }
  },
};
