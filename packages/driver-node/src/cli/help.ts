/** The help: of all commands, and of one. */
import { type Command, type Options, everywhere } from "./command.ts";
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
  [String(exit.wrong), "something was found that is not as it should be"],
  [String(exit.usage), "the command line can not be understood"],
  [String(exit.unreachable), "a file, a scope or a host is not there, is locked, or belongs to somebody else"],
  [String(exit.refused), "the scope refused what was asked of it"],
];

export const helpOf = (command: Command, { paint }: Terminal): string => {
  const { name, summary, usage, detail, options, examples } = command;
  const bold = (text: string): string => paint("bold", text);
  const lines = [
    `${summary}.`,
    ...(detail === undefined ? [] : ["", detail]),
    "",
    bold("Usage"),
    `  pawl ${[name, usage].filter((part) => part !== "").join(" ")} [options]`,
    "",
    bold("Options"),
    ...column(optionRows({ ...options, ...everywhere }), (text) => text),
    "",
    bold("Examples"),
    ...column(examples, (text) => paint("cyan", text)),
  ];
  return `${lines.join("\n")}\n`;
};

export const helpOfAll = (commands: readonly Command[], { paint }: Terminal): string => {
  const rows = commands.map(({ name, usage, summary }): readonly [string, string] => [
    `${name} ${usage}`.trimEnd(),
    summary,
  ]);
  const lines = [
    "pawl runs the tool calls of AI agents so that they survive crashes. This looks into its journals and logs.",
    "",
    paint("bold", "Usage"),
    "  pawl <command> [options]",
    "",
    paint("bold", "Commands"),
    ...column(rows, (text) => paint("cyan", text)),
    "",
    "A log is a file of JSON Lines, or a scope in a journal: journal.db#session:alice. A bare scope is a session's id.",
    "",
    paint("bold", "Exit codes"),
    ...column(codes, (text) => text),
    "",
    "pawl help <command> shows its options and examples.",
  ];
  return `${lines.join("\n")}\n`;
};
