/** A command: its name, its options, its help, and the function that runs it. */
import { parseArgs } from "node:util";
import { type Exit, usageError } from "./exit.ts";
import { shellWord } from "./escape.ts";
import type { Terminal } from "./terminal.ts";

export interface Option {
  /** `strings` may be given several times. */
  readonly type: "string" | "strings" | "boolean";
  readonly short?: string;
  /** Placeholder of its value in the help, as `<file>`. */
  readonly value?: string;
  readonly what: string;
}

export interface Options {
  readonly [name: string]: Option;
}

/** Parsed arguments of a command line. */
export interface Input {
  readonly positionals: readonly string[];
  readonly text: (name: string) => string | undefined;
  readonly texts: (name: string) => readonly string[];
  readonly isSet: (name: string) => boolean;
}

/** One JSON document that `--json` prints, for the help. */
export interface JsonDocument {
  readonly what: string;
  /** Field names with commas; `?` marks optional ones. Without fields, `what` says where the format is described. */
  readonly fields?: string;
}

export interface Command {
  /** One word or two, as `log verify`. */
  readonly name: string;
  readonly summary: string;
  /** Positional arguments, as the help shows them: `<file…>`. */
  readonly usage: string;
  readonly maxArgs: number;
  readonly minArgs: number;
  readonly options: Options;
  /** Paragraphs below the summary. */
  readonly detail?: string;
  readonly json: readonly JsonDocument[];
  readonly examples: readonly (readonly [line: string, what: string])[];
  readonly run: (input: Input, terminal: Terminal) => Promise<Exit>;
}

/** Options of every command. */
export const commonOptions: Options = {
  json: { type: "boolean", what: "Print JSON for scripts instead of text" },
  help: { type: "boolean", short: "h", what: "Show this help" },
};

export const journalOption: Options = {
  journal: {
    type: "string",
    short: "j",
    value: "<journal>",
    what: "The journal: a file, or postgres://…; or set PAWL_JOURNAL",
  },
  blobs: { type: "string", value: "<folder>", what: "The folder of large values (<journal>.blobs); or set PAWL_BLOBS" },
  keys: { type: "string", value: "<folder>", what: "The folder of keys for sealed values; or set PAWL_KEYS" },
};

/** Proposes `journal#scope` to somebody who wrote `journal scope`. */
const countHint = ({ name, maxArgs, usage }: Command, [journal = "", scope = ""]: readonly string[]): string => {
  const takesOneScope = maxArgs === 1 && usage === "<scope>";
  const isScope = /^(?:session|process):./.test(scope);
  return takesOneScope && isScope ? `pawl ${name} ${shellWord(`${journal}#${scope}`)}` : `pawl help ${name}`;
};

const checkCount = (command: Command, positionals: readonly string[]): void => {
  const { name, minArgs, maxArgs, usage } = command;
  if (positionals.length >= minArgs && positionals.length <= maxArgs) return;
  const found = positionals.length === 0 ? "nothing" : positionals.map((one) => `\`${one}\``).join(" ");
  const expected = usage === "" ? "no arguments" : usage;
  throw usageError(`pawl ${name} expects ${expected}, found ${found}`, countHint(command, positionals));
};

/** Parses the arguments of a command, or throws a usage error. */
export const inputOf = (command: Command, args: readonly string[]): Input => {
  const options = { ...command.options, ...commonOptions };
  const accepted = Object.fromEntries(
    Object.entries(options).map(([name, { type, short }]) => {
      const kind = type === "boolean" ? { type } : { type: "string" as const, multiple: type === "strings" };
      return [name, short === undefined ? kind : { ...kind, short }];
    }),
  );
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: accepted, allowPositionals: true });
    const input: Input = {
      positionals,
      text: (name) => (typeof values[name] === "string" ? values[name] : undefined),
      texts: (name) => (Array.isArray(values[name]) ? values[name].filter((one) => typeof one === "string") : []),
      isSet: (name) => values[name] === true,
    };
    if (!input.isSet("help")) checkCount(command, positionals);
    return input;
  } catch (thrown) {
    if (thrown instanceof TypeError && "code" in thrown)
      throw usageError(thrown.message.split(/\. |\n/)[0] ?? "", `pawl help ${command.name}`);
    throw thrown;
  }
};

/** Returns the whole number that an option gives. */
export const countOf = (input: Input, name: string, min = 0): number | undefined => {
  const text = input.text(name);
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count) && count >= min) return count;
  throw usageError(`--${name} expects a whole number from ${min}, found \`${text}\``);
};
