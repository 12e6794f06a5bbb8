/**
 * Commands written out: what stands in the `.cmds.jsonl` beside a golden log, one line an event, so that a difference
 * is seen field by field where the digest only says that there is one.
 */
import { type Json, ToolCallOutput, stringifyRecord } from "@pawl/tool-value";
import type { Command } from "../kernel/command.ts";
import { type Transition, nextDeadline } from "../machine.ts";
import { ReplyCodec } from "../request/codec.ts";
import type { Produced } from "./fault.ts";

/** A command holds values as the core does; on paper they stand encoded. */
const encodeCommand = (command: Command): Json => {
  const { output } = command as { readonly output?: ToolCallOutput };
  const coded = output === undefined ? command : { ...command, output: ToolCallOutput.encode(output) };
  const written = "replies" in command ? { ...coded, replies: command.replies.map(ReplyCodec.encode) } : coded;
  return written as Json;
};

/** What an event produced. */
export const producedBy = ({ state, commands }: Pick<Transition, "state" | "commands">): Produced => {
  const deadline = nextDeadline(state);
  return deadline === undefined ? { commands } : { commands, deadline: { at: deadline.at, birth: deadline.birth } };
};

/** Writes the commands and the next deadline of an event in full, for a golden log. */
export const commandsLine = (seq: number, { commands, deadline }: Produced): string =>
  `${stringifyRecord({ seq, commands: commands.map(encodeCommand), deadline: deadline ?? null })}\n`;
