/** Prints the overview of all commands, and the help of one. */
import { type Command, type Options, type JsonDocument, commonOptions } from "./command.ts";
import { exit } from "./exit.ts";
import type { Terminal } from "./terminal.ts";

const column = (rows: readonly (readonly [string, string])[], paint: (text: string) => string): readonly string[] => {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${paint(left)}${" ".repeat(width - left.length)}  ${right}`);
};

const optionRows = (options: Options): readonly (readonly [string, string])[] =>
  Object.entries(options).map(([name, { short, value, what }]) => {
    const long = value === undefined ? `--${name}` : `--${name} ${value}`;
    return [short === undefined ? `    ${long}` : `-${short}, ${long}`, what];
  });

const codes: readonly (readonly [string, string])[] = [
  [String(exit.fine), "fine"],
  [String(exit.wrong), "the command found a problem"],
  [String(exit.usage), "the command line is wrong"],
  [String(exit.unreachable), "a file, scope or host does not exist, is locked, or belongs to another process"],
  [String(exit.refused), "the scope refused the command"],
  [String(exit.failed), "a bug in pawl"],
];

/** The document of a failed command. */
const failure: JsonDocument = { what: "At the end, if it failed", fields: "error: code, message, hint?" };

const widest = 100;

/** Wraps text to `widest` columns. */
const wrapped = (text: string): readonly string[] => {
  const lines: string[] = [];
  for (const word of text.split(" ").filter((one) => one !== "")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > widest) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
};

const toldLines = (told: readonly JsonDocument[]): readonly string[] =>
  [...told, failure].flatMap(({ what, fields = "" }) => [`  ${what}`, ...wrapped(fields).map((line) => `    ${line}`)]);

const helpWords = (command: Command, { paint }: Terminal): readonly string[] => {
  const { name, summary, usage, detail, options, json, examples } = command;
  const bold = (text: string): string => paint("bold", text);
  return [
    `${summary}.`,
    ...(detail === undefined ? [] : ["", ...detail.split("\n")]),
    "",
    bold("Usage"),
    `  pawl ${[name, usage].filter((part) => part !== "").join(" ")} [options]`,
    "",
    bold("Options"),
    ...column(optionRows({ ...options, ...commonOptions }), (text) => text),
    "",
    bold("Output with --json, one document a line"),
    ...toldLines(json),
    "",
    bold("Examples"),
    ...column(examples, (text) => paint("cyan", text)),
  ];
};

const helpJson = ({ name, summary, usage, detail, options, json, examples }: Command): object => ({
  name,
  summary,
  usage,
  detail,
  options: Object.entries({ ...options, ...commonOptions }).map(([option, of]) => ({ name: option, ...of })),
  json,
  examples: examples.map(([line, what]) => ({ line, what })),
});

export const printHelp = (command: Command, terminal: Terminal): void =>
  terminal.print(helpJson(command), () => helpWords(command, terminal));

const overviewText = (commands: readonly Command[], { paint }: Terminal): readonly string[] => {
  const rows = commands.map(({ name, usage, summary }): readonly [string, string] => [
    `${name} ${usage}`.trimEnd(),
    summary,
  ]);
  return [
    "pawl runs the tool calls of AI agents so that they survive crashes. This command line shows and changes its journals and logs.",
    "",
    paint("bold", "Usage"),
    "  pawl <command> [options]",
    "",
    paint("bold", "Commands"),
    ...column(rows, (text) => paint("cyan", text)),
    "",
    "A log is a file of JSON Lines, or a scope in a journal: journal.db#session:alice. A bare scope is a session's id.",
    "With --json each command prints JSON to standard output, one document a line. An error is the last document.",
    "",
    paint("bold", "Exit codes"),
    ...column(codes, (text) => text),
    "",
    "pawl help <command> shows the options and examples of a command; pawl --version prints the version.",
  ];
};

export const printOverview = (commands: readonly Command[], terminal: Terminal): void =>
  terminal.print(
    {
      commands: commands.map(({ name, usage, summary }) => ({ name, usage, summary })),
      exit_codes: codes.map(([code, what]) => ({ code: Number(code), what })),
    },
    () => overviewText(commands, terminal),
  );
