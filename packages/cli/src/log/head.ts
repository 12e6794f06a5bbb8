/** `pawl log head`: prints the hash chain's head, which covers the whole log. */
import { chain, chainStart, linesIn } from "@pawl/sansio-core/driver";
import type { Command } from "../command.ts";
import { exit } from "../exit.ts";
import { type LogSource, placeOf, placeOptions, withLogs } from "../place.ts";

export const isAttachmentLine = (line: string): boolean => line.startsWith('{"attachment":');

/**
 * Returns the head of the hash chain over an exported log, one link a line. It is the same for each export of a scope.
 * Attachments are left out: their names are hashes already.
 */
export const headOf = async ({ text }: LogSource): Promise<string> => {
  let head = chainStart;
  for (const line of linesIn(await text())) if (!isAttachmentLine(line)) head = chain(head, [line]);
  return head;
};

export const logHead: Command = {
  name: "log head",
  summary: "Print the SHA-256 hash that covers a whole log",
  usage: "<log…>",
  minArgs: 1,
  maxArgs: Infinity,
  options: placeOptions,
  detail:
    "The hash chain covers the exported lines, so a scope and its export have the same head. Keep it elsewhere: later\n`pawl log verify --head` tells whether anything was changed. The journal also stores the hash of its own appends up to\nnow, which `pawl log verify` compares; but whoever can change the journal can change that hash, too.",
  json: [{ what: "Each log", fields: "log, head, stored?" }],
  examples: [
    ["pawl log head alice.jsonl", "of a file"],
    ["pawl log head journal.db#alice", "of a scope in a journal"],
  ],
  run: async (input, terminal) => {
    const places = input.positionals.map((argument) => placeOf(argument, input, terminal));
    return withLogs(places, async (logs) => {
      for (const log of logs) {
        const head = await headOf(log);
        const stored = await log.storedHead?.();
        terminal.print({ log: log.name, head, stored }, () => [
          `${head}  ${log.name}`,
          ...(stored === undefined
            ? []
            : [`${stored.hash}  ${terminal.paint("dim", "over the journal's own appends")}`]),
        ]);
      }
      return exit.fine;
    });
  },
};
