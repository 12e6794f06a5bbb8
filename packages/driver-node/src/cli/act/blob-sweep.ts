/** `pawl blobs sweep`: takes away large values that no log names any more. */
import { sweepBlobs } from "@pawl/runtime";
import { type Command, countOf, journalOption } from "../command.ts";
import { exit } from "../exit.ts";
import { openJournalFile } from "../journal-file.ts";
import { journalFolders, journalOf } from "../place.ts";

const defaultGraceS = 3600;

export const blobsSweep: Command = {
  name: "blobs sweep",
  summary: "Take away large values that no log of a journal names any more",
  usage: "[journal]",
  minArgs: 0,
  maxArgs: 1,
  options: {
    journal: journalOption["journal"] as (typeof journalOption)[string],
    blobs: journalOption["blobs"] as (typeof journalOption)[string],
    grace: { type: "string", value: "<s>", what: `Spare those that were put so lately (${defaultGraceS})` },
    "dry-run": { type: "boolean", what: "Only say what would be taken away" },
  },
  detail:
    "Hosts do so once a day. All logs are read for the names in them, sealed ones without their keys. What was put within\nthe grace is spared, as its event may be on its way: with a short one no host may be at work.",
  json: [{ what: "The journal", fields: "journal, looked, removed, dry_run" }],
  examples: [
    ["pawl blobs sweep journal.db", "after retention, say"],
    ["pawl blobs sweep journal.db --dry-run --json", "what it would take"],
  ],
  run: async (input, terminal) => {
    const file = input.positionals[0] ?? journalOf(input, terminal);
    const isTrial = input.isSet("dry-run");
    const graceMs = (countOf(input, "grace") ?? defaultGraceS) * 1000;
    const journal = openJournalFile(file, journalFolders(input, terminal));
    try {
      terminal.progress(`reading the logs of ${file}`);
      const { looked, removed } = await sweepBlobs(journal.journal, { graceMs, isTrial });
      terminal.print({ journal: file, looked, removed, dry_run: isTrial }, () => [
        `${looked} values older than ${graceMs / 1000} s, ${removed.length} of them ${isTrial ? "to be taken" : "taken"} away`,
      ]);
      return exit.fine;
    } finally {
      journal.close();
    }
  },
};
