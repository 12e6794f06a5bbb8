/** Searches by untrusted regular expressions, with a time limit: an expression may backtrack for ever. */
import { Script, createContext } from "node:vm";
import { expressionOf, linesOf, matchesOf } from "../../file/match.ts";
import { FileError, type Match } from "../../file/store.ts";

const program = new Script("hits = lines.map((line) => expression.test(line))");

/** Returns a function that searches texts; all its calls share one time budget. */
export const searcher = (pattern: string, budgetMs: number): ((path: string, text: string) => readonly Match[]) => {
  const sandbox = { expression: expressionOf(pattern), lines: [] as readonly string[], hits: [] as readonly boolean[] };
  const context = createContext(sandbox);
  let leftMs = budgetMs;
  const timeout = new FileError(
    "pattern",
    `it takes more than ${budgetMs} ms: simplify the expression, or narrow the search`,
  );
  const compare = (text: string): readonly boolean[] => {
    if (leftMs <= 0) throw timeout;
    const startedAt = performance.now();
    sandbox.lines = linesOf(text);
    try {
      program.runInContext(context, { timeout: Math.ceil(leftMs) });
    } catch (error) {
      throw (error as { readonly code?: unknown }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? timeout : error;
    }
    leftMs -= performance.now() - startedAt;
    return sandbox.hits;
  };
  return (path, text) => {
    const hits = compare(text);
    return matchesOf(path, text, (_, i) => hits[i] === true);
  };
};
