/** Searches the lines of files in slices, between which others are served, and within a time limit. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expressionOf, linesOf } from "../../file/match.ts";
import { FileError, type Match } from "../../file/store.ts";

/** The longest time that a search keeps the thread. */
const sliceMs = 8;

/** Returns a function that searches texts; all its calls share one time budget. */
export const searcher = (
  pattern: string,
  budgetMs: number,
): ((path: string, text: string) => Promise<readonly Match[]>) => {
  const isHit = expressionOf(pattern);
  let spentMs = 0;
  const spend = (startedAt: number): void => {
    spentMs += performance.now() - startedAt;
    if (spentMs <= budgetMs) return;
    throw new FileError("pattern", `it takes more than ${budgetMs} ms: simplify the expression, or narrow the search`);
  };
  return async (path, text) => {
    const found: Match[] = [];
    let startedAt = performance.now();
    for (const [i, line] of linesOf(text).entries()) {
      if (isHit(line)) found.push({ path, line_number: i + 1, line });
      if (performance.now() - startedAt < sliceMs) continue;
      spend(startedAt);
      await nextTurn();
      startedAt = performance.now();
    }
    spend(startedAt);
    return found;
  };
};
