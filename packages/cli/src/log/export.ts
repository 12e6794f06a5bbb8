/** `pawl log export`: writes scopes of a journal as JSON Lines. */
import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "../command.ts";
import { shownJournal } from "../database.ts";
import { CliError, exit } from "../exit.ts";
import { type LogSource, placeOf, placeOptions, withLogs } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { createHash } from "node:crypto";

const longest = 200;
const hashDigits = 16;

const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[*'()!~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

/** Encodes a scope as a file name. `session_` and `process_` stand for the prefixes with a colon. */
const plainName = (scope: string): string => {
  const [, kind, id] = /^(session|process):(.*)$/s.exec(scope) ?? [];
  return kind === undefined || id === undefined ? encoded(scope).replaceAll("_", "%5F") : `${kind}_${encoded(id)}`;
};

/** Names the files of one folder. A name that is too long, or differs from another only in case, gets a hash. */
export const fileNames = (): ((scope: string) => string) => {
  const taken = new Set<string>();
  return (scope) => {
    const plain = plainName(scope);
    const isOwn = plain.length <= longest && !taken.has(plain.toLowerCase());
    const hash = createHash("sha256").update(scope).digest("hex").slice(0, hashDigits);
    const name = isOwn ? plain : `${plain.slice(0, longest)}~${hash}`;
    taken.add(name.toLowerCase());
    return `${name}.jsonl`;
  };
};

const notWritten = (file: string, thrown: unknown): CliError => {
  const isThere = thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST";
  const why = isThere ? "it exists already" : thrown instanceof Error ? thrown.message : String(thrown);
  const hint = isThere ? "name another file, or add --force" : undefined;
  const ends = { exit: exit.unreachable } as const;
  return new CliError("file_not_written", `${file}: ${why}`, hint === undefined ? ends : { ...ends, hint });
};

/** Writes a whole file and syncs it. */
const writeFile = (file: string, text: Iterable<string>, force: boolean): number => {
  try {
    const fd = openSync(file, force ? "w" : "wx");
    let bytes = 0;
    try {
      for (const piece of text) bytes += writeSync(fd, piece);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    return bytes;
  } catch (thrown) {
    throw notWritten(file, thrown);
  }
};

/** Adds attachments to the text. One whose bytes do not match its name is left out and reported. */
const withAttachments = async (log: LogSource, terminal: Terminal): Promise<Iterable<string>> => {
  const { journal, textAlong } = log;
  if (journal === undefined || textAlong === undefined) return log.text();
  const fault = (what: string): void => terminal.note(`${log.name}: ${what}`);
  return textAlong({ attachments: journal.attachments, fault });
};

type TextOf = (log: LogSource) => Promise<Iterable<string>>;

interface Target {
  readonly folder: string;
  readonly force: boolean;
}

const exportAll = async (
  logs: readonly LogSource[],
  { folder, force }: Target,
  textOf: TextOf,
  terminal: Terminal,
): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  const nameOf = fileNames();
  for (const log of logs) {
    terminal.progress(`exporting ${log.name}`);
    const file = join(folder, nameOf(log.scope ?? log.name));
    const bytes = writeFile(file, await textOf(log), force);
    terminal.print({ log: log.name, file, bytes }, () => [`${log.name} -> ${file} (${bytes} bytes)`]);
  }
};

export const logExport: Command = {
  name: "log export",
  summary: "Export scopes of a journal to JSON Lines",
  usage: "<log…>",
  minArgs: 1,
  maxArgs: Infinity,
  options: {
    ...placeOptions,
    output: { type: "string", short: "o", value: "<file>", what: "The file, or the folder for several scopes" },
    attachments: { type: "boolean", what: "Include the attachments of tools (<journal>.attachments)" },
    force: { type: "boolean", what: "Replace existing files" },
  },
  json: [
    { what: "The log itself, line by line: docs/log-format.md" },
    { what: "Each log, with --output", fields: "log, file, bytes" },
  ],
  examples: [
    ["pawl log export journal.db#alice > alice.jsonl", "one scope, to standard output"],
    ["pawl log export journal.db -o logs", "every scope, each to a file in a folder"],
  ],
  run: async (input, terminal) => {
    const places = input.positionals.map((argument) => placeOf(argument, input, terminal));
    const [output, force] = [input.text("output"), input.isSet("force")];
    const textOf: TextOf = (log) => (input.isSet("attachments") ? withAttachments(log, terminal) : log.text());
    return withLogs(places, async (logs) => {
      const [log] = logs;
      const isOne = logs.length === 1 && places[0]?.scope !== undefined;
      if (log === undefined) throw new CliError("no_scopes", "there is nothing to export", { exit: exit.unreachable });
      if (!isOne && output === undefined) {
        const hint = `name one, as ${log.name}, or add --output <folder>`;
        const found =
          places.length === 1 ? `the whole journal ${shownJournal(places[0]?.file ?? "")}` : `${places.length} logs`;
        throw new CliError("which_scope", `expected one scope to print, found ${found}`, { exit: exit.usage, hint });
      }
      if (output === undefined) for (const piece of await textOf(log)) terminal.write(piece);
      else if (!isOne) await exportAll(logs, { folder: output, force }, textOf, terminal);
      else {
        const bytes = writeFile(output, await textOf(log), force);
        terminal.print({ log: log.name, file: output, bytes }, () => [`${log.name} -> ${output} (${bytes} bytes)`]);
      }
      return exit.fine;
    });
  },
};
