/** Finds the command, runs it, and prints its failure. Lists all commands in the order of the help. */
import { readFileSync } from "node:fs";
import { type Command, inputOf } from "./command.ts";
import { type CliError, type Exit, exit, usageError, failureOf, printFailure } from "./exit.ts";
import { printHelp, printOverview } from "./help.ts";
import { type Streams, type Terminal, terminalOn } from "./terminal.ts";
import { approveCommand, rejectCommand } from "./act/approve.ts";
import { cancelCommand } from "./act/cancel.ts";
import { forgetCommand } from "./act/forget.ts";
import { forkCommand } from "./act/fork.ts";
import { moveCommand } from "./act/move.ts";
import { resolveCommand } from "./act/resolve.ts";
import { blobsSweep } from "./act/blob-sweep.ts";
import { exploreCommand } from "./check/explore.ts";
import { flowCheck } from "./flow/check.ts";
import { flowRun } from "./flow/run.ts";
import { hostCommand } from "./host/host.ts";
import { tokenCommand } from "./host/token.ts";
import { logDiff } from "./log/diff.ts";
import { logExport } from "./log/export.ts";
import { logHead } from "./log/head.ts";
import { logImport } from "./log/import.ts";
import { logReplay } from "./log/replay.ts";
import { logVerify } from "./log/verify.ts";
import { doctorCommand } from "./scope/doctor.ts";
import { lsCommand } from "./scope/ls.ts";
import { showCommand } from "./scope/show.ts";
import { whyCommand } from "./scope/why.ts";
import { checkUpgradeCommand } from "./check/check-upgrade.ts";

export const commands: readonly Command[] = [
  lsCommand,
  showCommand,
  whyCommand,
  resolveCommand,
  approveCommand,
  rejectCommand,
  cancelCommand,
  forkCommand,
  moveCommand,
  forgetCommand,
  doctorCommand,
  blobsSweep,
  checkUpgradeCommand,
  exploreCommand,
  hostCommand,
  tokenCommand,
  flowRun,
  flowCheck,
  logExport,
  logImport,
  logVerify,
  logReplay,
  logDiff,
  logHead,
];

const commandAt = (words: readonly string[]): Command | undefined =>
  commands.find(({ name }) => name === words.slice(0, 2).join(" ")) ?? commands.find(({ name }) => name === words[0]);

/** Levenshtein distance between two words. */
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
  if (family.length > 0) return usageError(`\`pawl ${said}\` stands for several commands`, family.join(", "));
  const near = commands
    .map(({ name }) => ({ name, far: distance(said, name) }))
    .filter(({ far }) => far <= 2)
    .toSorted((a, b) => a.far - b.far)[0];
  const hint = near === undefined ? "pawl help" : `did you mean \`pawl ${near.name}\`?`;
  return usageError(`there is no command \`${said}\``, hint);
};

const isFlag = (arg: string): boolean => arg.startsWith("-");

const help = (words: readonly string[], terminal: Terminal): Exit => {
  const command = commandAt(words);
  if (command === undefined && words.length > 0) throw unknown(words);
  if (command === undefined) printOverview(commands, terminal);
  else printHelp(command, terminal);
  return exit.fine;
};

/** Prints the version of this package. */
const version = (terminal: Terminal): Exit => {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version: own } = JSON.parse(manifest) as { readonly version: string };
  terminal.print({ version: own }, () => [own]);
  return exit.fine;
};

const runWords = async (args: readonly string[], terminal: Terminal): Promise<Exit> => {
  const [first] = args;
  if (first === undefined) {
    printOverview(commands, terminal);
    return exit.usage;
  }
  if (["help", "--help", "-h"].includes(first))
    return help(
      args.slice(1).filter((arg) => !isFlag(arg)),
      terminal,
    );
  if (first === "--version") return version(terminal);
  if (isFlag(first)) throw usageError(`the command comes first, found \`${first}\``, "pawl help");
  const command = commandAt(args);
  if (command === undefined) throw unknown(args);
  const input = inputOf(command, args.slice(command.name.split(" ").length));
  if (!input.isSet("help")) return command.run(input, terminal);
  printHelp(command, terminal);
  return exit.fine;
};

/** Accepted before the command, too. */
const jsonFlag = "--json";

export const run = async (args: readonly string[], streams: Streams): Promise<Exit> => {
  const isJson = args.includes(jsonFlag);
  const terminal = terminalOn(streams, isJson);
  try {
    return await runWords(args[0] === jsonFlag ? args.slice(1) : args, terminal);
  } catch (thrown) {
    const failure = failureOf(thrown);
    printFailure(failure, terminal);
    return failure.exit;
  } finally {
    terminal.progress("");
  }
};
