/** The cases of these ops that the project was given. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Adapters, judge, readCases, runCase } from "@pawl/testkit";
import { expect, it } from "vitest";
import { compatAdapters } from "../cases/compat.ts";

const adapters = compatAdapters as unknown as Adapters;
const text = readFileSync(resolve(import.meta.dirname, "cases.json"), "utf8");

for (const test of readCases(text)) {
  it(`${test.id}: ${test.op}`, async () => {
    expect(judge(test, await runCase(test, adapters))).toBeUndefined();
  });
}
