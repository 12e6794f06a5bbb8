import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";

const src = resolve(import.meta.dirname, "../src");
const hashes = /hash\.ts"|\b(?:stableHash|hashText|valueHash)\b/;

it("nothing that a step runs makes a hash: those who do are named so, and only the two barrels know them", () => {
  const files = globSync("**/*.ts", { cwd: src }).filter((file) => !/hash\.ts$|^(?:index|driver)\.ts$/.test(file));
  const hashing = files.filter((file) => hashes.test(readFileSync(resolve(src, file), "utf8")));
  expect(hashing).toEqual([]);
});
