/** `pawl migrate`: makes the tables of a journal in PostgreSQL, or brings them to the newest version. */
import type { Command } from "./command.ts";
import { isDatabase, shownJournal, withDatabase } from "./database.ts";
import { exit, usageError } from "./exit.ts";
import { journalOf } from "./place.ts";

const versionText = (version: number): string => (version === 0 ? "no tables" : `version ${version}`);

export const migrateCommand: Command = {
  name: "migrate",
  summary: "Make the tables of a journal in PostgreSQL, or bring them to the newest version",
  usage: "[postgres://…]",
  minArgs: 0,
  maxArgs: 1,
  options: {
    journal: { type: "string", short: "j", value: "<journal>", what: "The database; or set PAWL_JOURNAL" },
    grant: { type: "strings", value: "<role>", what: "Give a role what a host needs; may be repeated" },
  },
  detail:
    "Run it with a role that may create tables; hosts need less, and --grant gives it. The schema is `pawl`, or the one that the\naddress names: postgres://db.internal/app?schema=agents. Several processes may run it at once. Give the password by\nPGPASSWORD or ~/.pgpass, so that it stands in no command line.",
  json: [{ what: "The schema", fields: "journal, from, to, granted?" }],
  examples: [
    ["pawl migrate postgres://owner@db.internal/app", "before the first host starts, and after an update"],
    ["pawl migrate postgres://owner@db.internal/app --grant pawl_host", "and let the role of the hosts work on it"],
  ],
  run: async (input, terminal) => {
    const name = input.positionals[0] ?? journalOf(input, terminal);
    if (!isDatabase(name))
      throw usageError(
        `pawl migrate expects a database, found \`${name}\``,
        "pawl migrate postgres://… (a file needs no migration)",
      );
    const granted = input.texts("grant");
    return withDatabase(name, { isBare: true }, async (database) => {
      const { from, to } = await database.migrate(granted);
      await database.connect(); // Refuses a server that promises too little, before the first host does.
      const journal = shownJournal(name);
      const roles = granted.length === 0 ? {} : { granted };
      terminal.print({ journal, from, to, ...roles }, () => [
        from === to
          ? `${journal} is of ${versionText(to)}`
          : `${journal} is of ${versionText(to)} now; it had ${versionText(from)}`,
        ...granted.map((role) => `${role} may work on it`),
      ]);
      return exit.fine;
    });
  },
};
