/** Archives what retention deletes, so that a check still sees every line. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Journal } from "@pawl/runtime";
import type { JournalLine } from "@pawl/runtime/driver";

const fileOf = (folder: string, scope: string): string => join(folder, "archive", encodeURIComponent(scope));

/** A journal that archives lines before it deletes them. */
export const archivedJournal = (journal: Journal, folder: string): Journal => {
  mkdirSync(join(folder, "archive"), { recursive: true });
  return {
    ...journal,
    retain: async (scope, ...asked) => {
      const lines = await journal.read(scope, 1);
      appendFileSync(fileOf(folder, scope), lines.map(({ seq, line }) => `${seq} ${line}`).join(""));
      return journal.retain(scope, ...asked);
    },
  };
};

const archived = (folder: string, scope: string): readonly JournalLine[] => {
  const file = fileOf(folder, scope);
  if (!existsSync(file)) return [];
  const whole = readFileSync(file, "utf8").split("\n").slice(0, -1); // A process may have died while writing its last line.
  return whole.map((text) => ({ seq: Number.parseInt(text, 10), line: `${text.slice(text.indexOf(" ") + 1)}\n` }));
};

/** Returns all lines of a scope, with the deleted ones. */
export const wholeLog = async (journal: Journal, folder: string, scope: string): Promise<readonly string[]> => {
  const lines = new Map(
    [...archived(folder, scope), ...(await journal.read(scope, 1))].map(({ seq, line }) => [seq, line]),
  );
  return [...lines].toSorted(([a], [b]) => a - b).map(([, line]) => line);
};
