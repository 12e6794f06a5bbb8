/** Runs one command line. */
import { BlobMissing, SealedError } from "@pawl/runtime";
import { JournalFileError } from "../sqlite/file-error.ts";
import { type Command, inputOf } from "./command.ts";
import { commands } from "./commands.ts";
import { CliError, type Exit, exit, usageError } from "./exit.ts";
import { helpOf, helpOfAll } from "./help.ts";
import { type Streams, type Terminal, jsonText, terminalOn } from "./terminal.ts";

const commandAt = (words: readonly string[]): Command | undefined =>
  commands.find(({ name }) => name === words.slice(0, 2).join(" ")) ?? commands.find(({ name }) => name === words[0]);

/** How many letters have to change until one word is the other. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= b.length; j++) {
      const same = (row[j - 1] as number) + (letter === b[j - 1] ? 0 : 1);
      next.push(Math.min(same, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row.at(-1) as number;
};

const unknown = (words: readonly string[]): CliError => {
  const said = words.slice(0, words[0] === "log" ? 2 : 1).join(" ");
  const family = commands.map(({ name }) => name).filter((name) => name.startsWith(`${said} `));
  if (family.length > 0) return usageError(`\`pawl ${said}\` is more than one command`, family.join(", "));
  const near = commands
    .map(({ name }) => ({ name, far: distance(said, name) }))
    .filter(({ far }) => far <= 2)
    .toSorted((a, b) => a.far - b.far)[0];
  const hint = near === undefined ? "pawl help" : `did you mean \`pawl ${near.name}\`?`;
  return usageError(`there is no command \`${said}\``, hint);
};

const isFlag = (arg: string): boolean => arg.startsWith("-");

const runWords = async (args: readonly string[], terminal: Terminal): Promise<Exit> => {
  const [first] = args;
  const isHelp = first === "help" || first === undefined || isFlag(first);
  const words = first === "help" ? args.slice(1) : args;
  const command = commandAt(words);
  if (isHelp) {
    if (command === undefined && words[0] !== undefined && !isFlag(words[0])) throw unknown(words);
    terminal.write(command === undefined ? helpOfAll(commands, terminal) : helpOf(command, terminal));
    return first === undefined ? exit.usage : exit.fine;
  }
  if (command === undefined) throw unknown(words);
  const input = inputOf(command, args.slice(command.name.split(" ").length));
  if (!input.isSet("help")) return command.run(input, terminal);
  terminal.write(helpOf(command, terminal));
  return exit.fine;
};

/** What is wrong with a journal file is nobody's fault on this line. */
const known = (thrown: unknown): CliError | undefined => {
  if (thrown instanceof CliError) return thrown;
  if (thrown instanceof SealedError) return new CliError(thrown.code, thrown.message, { exit: exit.unreachable });
  if (thrown instanceof BlobMissing) return new CliError(thrown.code, thrown.message, { exit: exit.wrong });
  return thrown instanceof JournalFileError
    ? new CliError(thrown.code, thrown.message, { exit: exit.unreachable })
    : undefined;
};

export const run = async (args: readonly string[], streams: Streams): Promise<Exit> => {
  const terminal = terminalOn(streams, args.includes("--json"));
  try {
    return await runWords(args, terminal);
  } catch (thrown) {
    const error = known(thrown);
    if (error === undefined) throw thrown;
    const { code, message, hint } = error;
    if (terminal.isJson) terminal.note(jsonText({ error: { code, message, hint } }));
    else {
      terminal.note(`${terminal.paint("red", "pawl:")} ${message}`);
      if (hint !== undefined) terminal.note(`  ${hint}`);
    }
    return error.exit;
  } finally {
    terminal.progress("");
  }
};
