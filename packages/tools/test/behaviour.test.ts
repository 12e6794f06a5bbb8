/** Every one of the 35 behaviours of section 14 of the specification is named in the title of a test. */
import { readFileSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";

const packages = new URL("../../", import.meta.url);
const tests = ["tools", "runtime", "sansio-core"].flatMap((name) =>
  readdirSync(new URL(`${name}/test`, packages), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => readFileSync(new URL(`${name}/test/${file}`, packages), "utf8")),
);

it("each behaviour has a test that names it", () => {
  const named = tests
    .flatMap((text) => [...text.matchAll(/\bit\(\s*"[^"]*\(behaviours? (?<numbers>[\d, ]+)/g)])
    .flatMap(({ groups }) => (groups?.["numbers"] ?? "").split(/[, ]+/).map(Number));
  const missing = Array.from({ length: 35 }, (_, i) => i + 1).filter((number) => !named.includes(number));
  expect(missing).toEqual([]);
});
