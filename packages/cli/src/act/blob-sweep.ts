/** `pawl blobs sweep`: deletes large values that no log refers to. */
import { sweepBlobs } from "@pawl/runtime/driver";
import { type Command, countOf, journalOption } from "../command.ts";
import { exit } from "../exit.ts";
import { openJournalFile } from "../journal-file.ts";
import { journalFolders, journalOf } from "../place.ts";

const defaultGraceS = 3600;

export const blobsSweep: Command = {
  name: "blobs sweep",
  summary: "Delete large values that no log of a journal refers to",
  usage: "[journal]",
  minArgs: 0,
  maxArgs: 1,
  options: {
    journal: journalOption["journal"] as (typeof journalOption)[string],
    blobs: journalOption["blobs"] as (typeof journalOption)[string],
    grace: { type: "string", value: "<s>", what: `Keep values younger than this (${defaultGraceS})` },
    "dry-run": { type: "boolean", what: "Only print what would be deleted" },
  },
  detail:
    "Hosts do this once a day. All logs are searched for references; sealed logs need no keys. Values younger than\nthe grace time are kept, because their event may not be recorded yet. Do not shorten it while a host is running.",
  json: [{ what: "The journal", fields: "journal, looked, removed, dry_run" }],
  examples: [
    ["pawl blobs sweep journal.db", "for example after retention"],
    ["pawl blobs sweep journal.db --dry-run --json", "print what it would delete"],
  ],
  run: async (input, terminal) => {
    const name = input.positionals[0] ?? journalOf(input, terminal);
    const isTrial = input.isSet("dry-run");
    const graceMs = (countOf(input, "grace") ?? defaultGraceS) * 1000;
    const journal = await openJournalFile(name, journalFolders(input, terminal));
    try {
      terminal.progress(`reading the logs of ${journal.file}`);
      const { looked, removed } = await sweepBlobs(journal.journal, { graceMs, isTrial });
      terminal.print({ journal: journal.file, looked, removed, dry_run: isTrial }, () => [
        `${looked} values older than ${graceMs / 1000} s, ${removed.length} of them ${isTrial ? "would be" : "were"} deleted`,
      ]);
      return exit.fine;
    } finally {
      await journal.close();
    }
  },
};
