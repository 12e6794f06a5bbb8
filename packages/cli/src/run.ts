/** Finds the command, runs it, and prints its failure. Lists all commands in the order of the help. */
import { type Command, inputOf } from "./command.ts";
import { ownVersion } from "./version.ts";
import { type CliError, type Exit, exit, usageError, failureOf, printFailure } from "./exit.ts";
import { printHelp, printOverview } from "./help.ts";
import { type Streams, type Terminal, terminalOn } from "./terminal.ts";

/** Every command under its name, in the order of the help. A command that runs loads its own module, and no other. */
const loaders: { readonly [name: string]: () => Promise<Command> } = {
  ls: async () => (await import("./scope/ls.ts")).lsCommand,
  show: async () => (await import("./scope/show.ts")).showCommand,
  why: async () => (await import("./scope/why.ts")).whyCommand,
  prompt: async () => (await import("./scope/prompt.ts")).promptCommand,
  chat: async () => (await import("./chat/chat.ts")).chatCommand,
  resolve: async () => (await import("./act/resolve.ts")).resolveCommand,
  approve: async () => (await import("./act/approve.ts")).approveCommand,
  reject: async () => (await import("./act/approve.ts")).rejectCommand,
  cancel: async () => (await import("./act/cancel.ts")).cancelCommand,
  fork: async () => (await import("./act/fork.ts")).forkCommand,
  move: async () => (await import("./act/move.ts")).moveCommand,
  forget: async () => (await import("./act/forget.ts")).forgetCommand,
  doctor: async () => (await import("./scope/doctor.ts")).doctorCommand,
  migrate: async () => (await import("./migrate.ts")).migrateCommand,
  "blobs sweep": async () => (await import("./act/blob-sweep.ts")).blobsSweep,
  "check-upgrade": async () => (await import("./check/check-upgrade.ts")).checkUpgradeCommand,
  explore: async () => (await import("./check/explore.ts")).exploreCommand,
  init: async () => (await import("./start/init.ts")).initCommand,
  host: async () => (await import("./host/host.ts")).hostCommand,
  mcp: async () => (await import("./host/mcp.ts")).mcpCommand,
  token: async () => (await import("./host/token.ts")).tokenCommand,
  "flow run": async () => (await import("./flow/run.ts")).flowRun,
  "flow check": async () => (await import("./flow/check.ts")).flowCheck,
  "log export": async () => (await import("./log/export.ts")).logExport,
  "log import": async () => (await import("./log/import.ts")).logImport,
  "log verify": async () => (await import("./log/verify.ts")).logVerify,
  "log replay": async () => (await import("./log/replay.ts")).logReplay,
  "log diff": async () => (await import("./log/diff.ts")).logDiff,
  "log head": async () => (await import("./log/head.ts")).logHead,
  completion: async () => (await import("./start/completion.ts")).completionCommand(allCommands),
};
const names = Object.keys(loaders);

/** Loads all commands, for the overview. */
export const allCommands = (): Promise<readonly Command[]> => Promise.all(Object.values(loaders).map((load) => load()));

const commandAt = async (words: readonly string[]): Promise<Command | undefined> => {
  const name = [words.slice(0, 2).join(" "), words[0] ?? ""].find((one) => Object.hasOwn(loaders, one));
  return name === undefined ? undefined : loaders[name]?.();
};

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
  const family = names.filter((name) => name.startsWith(`${said} `));
  if (family.length > 0) return usageError(`\`pawl ${said}\` stands for several commands`, family.join(", "));
  const near = names
    .map((name) => ({ name, far: distance(said, name) }))
    .filter(({ far }) => far <= 2)
    .toSorted((a, b) => a.far - b.far)[0];
  const hint = near === undefined ? "pawl help" : `did you mean \`pawl ${near.name}\`?`;
  return usageError(`there is no command \`${said}\``, hint);
};

const isFlag = (arg: string): boolean => arg.startsWith("-");

const help = async (words: readonly string[], terminal: Terminal): Promise<Exit> => {
  const command = await commandAt(words);
  if (command === undefined && words.length > 0) throw unknown(words);
  if (command === undefined) printOverview(await allCommands(), terminal);
  else printHelp(command, terminal);
  return exit.fine;
};

/** Prints the version of this package. */
const version = (terminal: Terminal): Exit => {
  const own = ownVersion();
  terminal.print({ version: own }, () => [own]);
  return exit.fine;
};

const runWords = async (args: readonly string[], terminal: Terminal): Promise<Exit> => {
  const [first] = args;
  if (first === undefined) {
    printOverview(await allCommands(), terminal);
    return exit.usage;
  }
  if (["help", "--help", "-h"].includes(first))
    return help(
      args.slice(1).filter((arg) => !isFlag(arg)),
      terminal,
    );
  if (first === "--version") return version(terminal);
  if (isFlag(first)) throw usageError(`the command comes first, found \`${first}\``, "pawl help");
  const command = await commandAt(args);
  if (command === undefined) throw unknown(args);
  const input = inputOf(command, args.slice(command.name.split(" ").length));
  if (!input.isSet("help")) return command.run(input, terminal);
  printHelp(command, terminal);
  return exit.fine;
};

/** Accepted before the command, too. */
const jsonFlag = "--json";

/** Runs one command of the command line, and resolves to its exit. */
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
