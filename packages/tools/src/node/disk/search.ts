/** A search by a regular expression that anybody may have written: it ends in time, however the expression backtracks. */
import { Script, createContext } from "node:vm";
import { expressionOf, linesOf, matchesOf } from "../../file/match.ts";
import { FileError, type Match } from "../../file/store.ts";

const program = new Script("hits = lines.map((line) => expression.test(line))");

/** Searches texts one after the other; together they may take so long. */
export const searcher = (pattern: string, budgetMs: number): ((path: string, text: string) => readonly Match[]) => {
  const sandbox = { expression: expressionOf(pattern), lines: [] as readonly string[], hits: [] as readonly boolean[] };
  const context = createContext(sandbox);
  let leftMs = budgetMs;
  const late = new FileError("pattern", `it takes more than ${budgetMs} ms: write it simpler, or narrow the search`);
  const compare = (text: string): readonly boolean[] => {
    if (leftMs <= 0) throw late;
    const begun = performance.now();
    sandbox.lines = linesOf(text);
    try {
      program.runInContext(context, { timeout: Math.ceil(leftMs) });
    } catch (error) {
      throw (error as { readonly code?: unknown }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? late : error;
    }
    leftMs -= performance.now() - begun;
    return sandbox.hits;
  };
  return (path, text) => {
    const hits = compare(text);
    return matchesOf(path, text, (_, i) => hits[i] === true);
  };
};
