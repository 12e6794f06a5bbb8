/** The cases that the project was given, and more of the same ops, through the runner that `pnpm cases` uses. */
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { judge, readCases, runCase } from "@pawl/testkit";
import { describe, expect, it } from "vitest";
import { collectAdapters } from "../scripts/adapters.ts";

const root = resolve(import.meta.dirname, "..");
const adapters = await collectAdapters();

for (const file of globSync(["cases/*.json", "test/own-cases/*.json"], { cwd: root }).toSorted()) {
  describe(file, () => {
    for (const test of readCases(readFileSync(resolve(root, file), "utf8"))) {
      it(`${test.id}: ${test.op}`, async () => {
        expect(judge(test, await runCase(test, adapters))).toBeUndefined();
      });
    }
  });
}
