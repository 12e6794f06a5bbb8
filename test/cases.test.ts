/** The cases that the project was given, through the runner that `pnpm cases` uses. */
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { judge, readCases, runCase } from "@pawl/testkit";
import { describe, expect, it } from "vitest";
import { collectAdapters } from "../scripts/adapters.ts";

const folder = resolve(import.meta.dirname, "../cases");
const adapters = await collectAdapters();

for (const file of globSync("*.json", { cwd: folder }).toSorted()) {
  describe(file, () => {
    for (const test of readCases(readFileSync(resolve(folder, file), "utf8"))) {
      it(`${test.id}: ${test.op}`, async () => {
        expect(judge(test, await runCase(test, adapters))).toBeUndefined();
      });
    }
  });
}
