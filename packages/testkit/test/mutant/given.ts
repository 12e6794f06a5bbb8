/** A hunt with the given cases of turns: whole conversations, prompts, ledgers and controls. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { judge, openCasesUnder, readCases, runCase } from "../../src/index.ts";
import { ledgerAdapters } from "../../../sansio-core/test/cases/turn/ledger.ts";
import { promptAdapters } from "../../../sansio-core/test/cases/turn/prompt.ts";
import { sequenceAdapters } from "../../../sansio-core/test/cases/turn/sequence.ts";

const adapters = { ...ledgerAdapters, ...promptAdapters, ...sequenceAdapters };

const turnCases = async (): Promise<string | undefined> => {
  openCasesUnder(2);
  const file = resolve(import.meta.dirname, "../../../../cases/turns.json");
  const cases = readCases(readFileSync(file, "utf8")).filter(({ op }) => op in adapters);
  for (const test of cases) {
    const wrong = judge(test, await runCase(test, adapters));
    if (wrong !== undefined) return `case ${test.id}: ${wrong.slice(0, 1000)}`;
  }
  return undefined;
};

export const given = { turnCases };
