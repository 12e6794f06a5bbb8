/** Commands are what the core asks of the world. They are derived, never recorded. Their duties say when to perform them. */
import type { Command } from "../concerns.ts";

export type { Command };
export type CommandType = Command["type"];
export type CommandOf<T extends CommandType> = Extract<Command, { readonly type: T }>;

/** A command that is issued again, and where in the log it was asked for. */
export interface Born {
  readonly born: number;
  readonly index: number;
  readonly command: Command;
}
