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
