/** Exit codes that scripts can rely on, and errors with a hint on how to fix them. */
import { Refused } from "@pawl/runtime";
import { BlobMissing, SealedError } from "@pawl/runtime/driver";
import { JournalFileError } from "@pawl/driver-node/operator";
import { type Terminal, jsonText } from "./terminal.ts";

export const exit = {
  fine: 0,
  /** The command ran and found a problem. */
  wrong: 1,
  usage: 2,
  /** A file, scope or host does not exist, is locked, or belongs to another process. */
  unreachable: 3,
  /** The scope rejected the command. */
  refused: 4,
  /** A bug in pawl. */
  failed: 5,
} as const;
export type Exit = (typeof exit)[keyof typeof exit];

/** Why a command failed: `message` says what was found and expected, `hint` says what to do. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: string;
  readonly exit: Exit;
  readonly hint: string | undefined;
  constructor(code: string, message: string, { exit: ends, hint }: { readonly exit: Exit; readonly hint?: string }) {
    super(message);
    this.code = code;
    this.exit = ends;
    this.hint = hint;
  }
}

export const usageError = (message: string, hint?: string): CliError =>
  new CliError("usage", message, hint === undefined ? { exit: exit.usage } : { exit: exit.usage, hint });

const hints: { readonly [code: string]: string } = {
  EADDRINUSE: "choose another --port, or leave it out to use a free one",
  EACCES: "check the permissions",
  EADDRNOTAVAIL: "choose an --address that this machine has",
  EEXIST: "choose another name",
  ENOENT: "does the folder exist?",
};

const internal = "internal_error";

/** Explains a failed system call. */
const systemFailure = (thrown: unknown): CliError | undefined => {
  if (!(thrown instanceof Error && "syscall" in thrown && "code" in thrown)) return undefined;
  const hint = hints[String(thrown.code)];
  return new CliError("system_error", thrown.message, { exit: exit.unreachable, ...(hint !== undefined && { hint }) });
};

/** Explains a journal that cannot be opened or read. */
const journalFailure = (thrown: unknown): CliError | undefined => {
  if (thrown instanceof SealedError) return new CliError(thrown.code, thrown.message, { exit: exit.unreachable });
  if (thrown instanceof BlobMissing) return new CliError(thrown.code, thrown.message, { exit: exit.wrong });
  return thrown instanceof JournalFileError
    ? new CliError(thrown.code, thrown.message, { exit: exit.unreachable })
    : undefined;
};

const databaseHints: { readonly [code: string]: string } = {
  not_migrated: "pawl migrate postgres://… with a role that may create tables",
  unavailable: "is the server running, and is the address right?",
};

/** Explains a database that cannot be used. Its package may not be installed, so the error is known by its name. */
const databaseFailure = (thrown: unknown): CliError | undefined => {
  if (!(thrown instanceof Error && thrown.name === "PostgresError" && "code" in thrown)) return undefined;
  const hint = databaseHints[String(thrown.code)];
  const ends = { exit: exit.unreachable, ...(hint !== undefined && { hint }) };
  return new CliError(String(thrown.code), thrown.message, ends);
};

const bug = (thrown: unknown): CliError => {
  const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  return new CliError(internal, message, {
    exit: exit.failed,
    hint: "this is a bug in pawl: please report it with the text above",
  });
};

const userCodes = new Set(["invalid_tool", "invalid_option", "tool_conflict"]);

/** Explains tools and options that a module or a configuration gives wrongly. */
const programFailure = (thrown: unknown): CliError | undefined =>
  thrown instanceof Refused && userCodes.has(thrown.code)
    ? new CliError(thrown.code, thrown.message, { exit: exit.usage })
    : undefined;

export const failureOf = (thrown: unknown): CliError =>
  thrown instanceof CliError
    ? thrown
    : (journalFailure(thrown) ??
      databaseFailure(thrown) ??
      systemFailure(thrown) ??
      programFailure(thrown) ??
      bug(thrown));

/** Prints a failure to standard error, or as the last JSON document. */
export const printFailure = ({ code, message, hint }: CliError, terminal: Terminal): void => {
  if (terminal.isJson) return terminal.write(`${jsonText({ error: { code, message, hint } })}\n`);
  const [first = "", ...stack] = code === internal ? message.split("\n") : [message];
  terminal.note(`${terminal.paint("red", "pawl:")} ${first}`);
  for (const line of stack) terminal.note(line);
  if (hint !== undefined) terminal.note(`  ${hint}`);
};
