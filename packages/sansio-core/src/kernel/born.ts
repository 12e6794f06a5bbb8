/** A command that is issued again, and where in the log it was asked for. */
import type { Command } from "./command.ts";

export interface Born {
  readonly born: number;
  readonly index: number;
  readonly command: Command;
}
