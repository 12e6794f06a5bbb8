/** What ends a command before its work is done, as it is told. */
import { BlobMissing, SealedError } from "@pawl/runtime";
import { JournalFileError } from "../sqlite/file-error.ts";
import { CliError, exit } from "./exit.ts";
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
export const tellFailure = ({ code, message, hint }: CliError, terminal: Terminal): void => {
  if (terminal.isJson) return terminal.write(`${jsonText({ error: { code, message, hint } })}\n`);
  const [first = "", ...stack] = code === internal ? message.split("\n") : [message];
  terminal.note(`${terminal.paint("red", "pawl:")} ${first}`);
  for (const line of stack) terminal.note(line);
  if (hint !== undefined) terminal.note(`  ${hint}`);
};
