/** Cases of our own beside those that the project was given: other inputs that the same rules cover, by the page's words. */
import { readFileSync } from "node:fs";
import { judge, readCases, runCase } from "@pawl/testkit";
import { expect, it } from "vitest";
import { adapters } from "./cases.ts";

const text = readFileSync(new URL("own-cases.json", import.meta.url), "utf8");

it.each(readCases(text).map((one) => [one.id, one] as const))("%s", async (_, one) => {
  expect(judge(one, await runCase(one, adapters))).toBeUndefined();
});
