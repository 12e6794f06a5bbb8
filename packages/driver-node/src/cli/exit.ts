/** How the command line ends: codes that scripts can use, and errors that say what to do. */
import { BlobMissing, SealedError } from "@pawl/runtime";
import { JournalFileError } from "../sqlite/file-error.ts";
import { type Terminal, jsonText } from "./terminal.ts";

const hints: { readonly [code: string]: string } = {
  EADDRINUSE: "choose another --port, or leave it out for any that is free",
  EACCES: "check the rights",
  EADDRNOTAVAIL: "choose an --address that this machine has",
  EEXIST: "name another place",
  ENOENT: "is the folder there?",
};

const internal = "internal_error";

/** What the operating system did not do. */
const ofSystem = (thrown: unknown): CliError | undefined => {
  if (!(thrown instanceof Error && "syscall" in thrown && "code" in thrown)) return undefined;
  const hint = hints[String(thrown.code)];
  return new CliError("system_error", thrown.message, { exit: exit.unreachable, ...(hint !== undefined && { hint }) });
};

/** What is wrong with a journal file is nobody's fault on this line. */
const ofJournal = (thrown: unknown): CliError | undefined => {
  if (thrown instanceof SealedError) return new CliError(thrown.code, thrown.message, { exit: exit.unreachable });
  if (thrown instanceof BlobMissing) return new CliError(thrown.code, thrown.message, { exit: exit.wrong });
  return thrown instanceof JournalFileError
    ? new CliError(thrown.code, thrown.message, { exit: exit.unreachable })
    : undefined;
};

const unexpected = (thrown: unknown): CliError => {
  const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  return new CliError(internal, message, {
    exit: exit.failed,
    hint: "this should not happen: report it, with what is above",
  });
};

export const failureOf = (thrown: unknown): CliError =>
  thrown instanceof CliError ? thrown : (ofJournal(thrown) ?? ofSystem(thrown) ?? unexpected(thrown));

/** To a person beside the result; to a script as the last document of it. */
export const printFailure = ({ code, message, hint }: CliError, terminal: Terminal): void => {
  if (terminal.isJson) return terminal.write(`${jsonText({ error: { code, message, hint } })}\n`);
  const [first = "", ...stack] = code === internal ? message.split("\n") : [message];
  terminal.note(`${terminal.paint("red", "pawl:")} ${first}`);
  for (const line of stack) terminal.note(line);
  if (hint !== undefined) terminal.note(`  ${hint}`);
};

export const exit = {
  fine: 0,
  /** It looked, and something is not as it should be. */
  wrong: 1,
  usage: 2,
  /** A file, a scope or a host that is not there, is locked, or belongs to somebody else. */
  unreachable: 3,
  /** The scope refused what was asked of it. */
  refused: 4,
  /** Pawl itself failed. */
  failed: 5,
} as const;
export type Exit = (typeof exit)[keyof typeof exit];

/** What hinders a command: what was found and wanted, in the message; what to do, in the hint. */
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
