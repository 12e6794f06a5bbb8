/** `pawl log head`: the head of the chain over a log, which vouches for all of it. */
import { chain, chainStart } from "@pawl/sansio-core";
import { linesIn } from "@pawl/runtime";
import type { Command } from "../command.ts";
import { exit } from "../exit.ts";
import { type LogSource, placeOf, placeOptions, withLogs } from "../place.ts";

export const isAttachmentLine = (line: string): boolean => line.startsWith('{"attachment":');

/**
 * The chain over the lines of an exported log, each taken as an append: the same wherever the log is exported, and
 * whether or not it brings attachments along, which are what their names say.
 */
export const headOf = async ({ text }: LogSource): Promise<string> => {
  let head = chainStart;
  for (const line of linesIn(await text())) if (!isAttachmentLine(line)) head = chain(head, [line]);
  return head;
};

export const logHead: Command = {
  name: "log head",
  summary: "Print the SHA-256 that vouches for a whole log",
  usage: "<log…>",
  minArgs: 1,
  maxArgs: Infinity,
  options: placeOptions,
  detail:
    "The chain is taken line by line over the log as it is exported, so that a scope and its export have the same.\nNote it elsewhere; `pawl log verify --head` tells later whether anything was changed. A journal keeps the hash of its\nown appends up to here, which `pawl log verify` compares; who can change the journal can change that, too.",
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
