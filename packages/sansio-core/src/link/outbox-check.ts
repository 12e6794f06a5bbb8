/** The invariants of the outbox, one function each: what is broken, and in which entry. */
import type { Command } from "../kernel/command.ts";
import type { State } from "../kernel/state.ts";
import type { OutboxRow } from "./outbox-model.ts";

const isOfOutbox = (command: Command): command is Extract<Command, { readonly type: OutboxRow["type"] }> =>
  command.type === "external.cancel" || command.type === "wake.deliver" || command.type === "session.tell";

export const checkO1 = (state: State, commands: readonly Command[]): string | undefined => {
  const issued = commands.flatMap((command) => (isOfOutbox(command) ? [command.key] : []));
  const once = new Set(issued);
  const stray = [...state.outbox].find(([key, row]) => row.key !== key || !once.has(key));
  if (stray !== undefined) return `outbox \`${stray[0]}\`: O1: it is not sent again`;
  return issued.length === state.outbox.size ? undefined : `O1: ${issued.length} sent of ${state.outbox.size}`;
};

export const outboxChecks = [checkO1] as const;
