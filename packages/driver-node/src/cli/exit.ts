/** How the command line ends: codes that scripts can use, and errors that say what to do. */

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
