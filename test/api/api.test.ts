/** The API reference says what the packages export today. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { pathOf } from "../project.ts";
import { writePages } from "./page.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-api-"));
afterAll(() => rmSync(folder, { recursive: true }));

const pagesIn = (place: string): ReadonlyMap<string, string> =>
  new Map(readdirSync(place).map((name) => [name, readFileSync(join(place, name), "utf8")]));

it("is what `pnpm api` writes: run it, and commit docs/api", () => {
  writePages(folder);
  const [written, today] = [pagesIn(pathOf("docs/api")), pagesIn(folder)];
  expect([...written.keys()]).toEqual([...today.keys()]);
  const old = [...today].filter(([name, text]) => written.get(name) !== text).map(([name]) => name);
  expect(old, "pages that are not what is exported today: run `pnpm api`").toEqual([]);
});

it("spells out what no page has: types of another module by its namespace, and members of what is not shown", () => {
  const pages = [...pagesIn(pathOf("docs/api")).values()].join("\n");
  expect(pages.match(/^type (\w+) = \w+\.\1;$/gm)).toBeNull();
  const members = [...pages.matchAll(/^ {2}readonly \w+: (?<of>\w+)\["\w+"\];$/gm)];
  const missing = members.filter(
    ({ groups }) => !new RegExp(`^(?:class|interface|type) ${groups?.["of"]}\\b`, "m").test(pages),
  );
  expect(missing.map(([line]) => line)).toEqual([]);
});
