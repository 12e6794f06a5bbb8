/**
 * Mail for a scope that is not in this store. It may be the first that is ever said to it, and brings it into being. But
 * what a scope that came from another store says to one that is not here is most likely for one that stayed there: a
 * second scope of its name would answer for it. That mail lies until the scope is here too.
 */
import * as E from "fp-ts/lib/Either.js";
import type { Journal, InboxMessage } from "../../journal/journal.ts";
import { contentOf } from "../../scope/message.ts";

/** Whether this makes a scope: a process that is started is nowhere yet. */
const isStart = (letter: InboxMessage): boolean => {
  const content = contentOf(letter);
  if (E.isLeft(content) || content.right.type !== "message.received") return false;
  return content.right.message.type === "process.start";
};

/** Whether mail brings a scope into being that is not here. The secrets of wait keys come with a scope that moves here. */
export const mayCreate = async (journal: Journal, scope: string): Promise<boolean> => {
  const { moves } = journal;
  if (moves === undefined) return true;
  const letters = await journal.inbox(scope);
  if (letters.length === 0 || letters.some(isStart)) return true;
  for (const from of new Set(letters.map((letter) => letter.from)))
    if ((await moves.secrets(from)).length === 0) return true;
  return false;
};
