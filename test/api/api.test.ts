/** The API reference, built into a temporary folder: what it lists, says and links to. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { files, textOf } from "../project.ts";
import { writePages } from "./page.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-api-"));
afterAll(() => rmSync(folder, { recursive: true }));

const pages = new Map<string, string>();
beforeAll(() => {
  writePages(folder);
  for (const name of readdirSync(folder)) pages.set(name, readFileSync(join(folder, name), "utf8"));
});

const headingsIn = (page: string): readonly string[] =>
  [...(pages.get(page) ?? "").matchAll(/^### (?<name>\w+)$/gm)].map(({ groups }) => groups?.["name"] ?? "");

it("has a page for each package that is published, and an entry for each entry point", () => {
  const manifests = files.filter((file) => /^packages\/[^/]+\/package\.json$/.test(file));
  expect([...pages.keys()].toSorted()).toEqual(
    ["index.md", ...manifests.map((file) => `${file.split("/")[1]}.md`)].toSorted(),
  );
  const missing = manifests.flatMap((file) => {
    const { name, exports } = JSON.parse(textOf(file)) as { readonly name: string; readonly exports: object };
    const page = pages.get(`${file.split("/")[1]}.md`) ?? "";
    const wanted = Object.keys(exports).map((path) => `## \`${name}${path.slice(1)}\``);
    return wanted.filter((heading) => !page.includes(heading));
  });
  expect(missing).toEqual([]);
});

it("has links that lead to an entry", () => {
  const links = [...pages].flatMap(([from, text]) =>
    [...text.matchAll(/\]\((?<page>[\w-]+\.md)(?:#(?<anchor>\w+))?\)/g)].map(({ groups }) => ({
      from,
      page: groups?.["page"] ?? "",
      anchor: groups?.["anchor"],
    })),
  );
  expect(links.length).toBeGreaterThan(30);
  const dead = links.filter(({ page, anchor }) => {
    const names = headingsIn(page).map((name) => name.toLowerCase());
    return anchor === undefined ? !pages.has(page) : !names.includes(anchor);
  });
  expect(dead).toEqual([]);
});

/** The entries of a page whose first line declares a function, a constant or a class, and that have no sentence before it. */
const unexplainedIn = (page: string): readonly string[] =>
  [...(pages.get(page) ?? "").matchAll(/^### (?<name>\w+)\n\n```ts\n(?:const|function|class|abstract class) /gm)].map(
    ({ groups }) => `${page}: ${groups?.["name"]}`,
  );

it("has a sentence for each function, constant and class", () => {
  expect([...pages.keys()].flatMap(unexplainedIn)).toEqual([]);
});

it("spells out what no page has: types of another module by its namespace, and members of what is not shown", () => {
  const text = [...pages.values()].join("\n");
  expect(text.match(/^type (\w+) = \w+\.\1;$/gm)).toBeNull();
  const members = [...text.matchAll(/^ {2}readonly \w+: (?<of>\w+)\["\w+"\];$/gm)];
  const missing = members.filter(
    ({ groups }) => !new RegExp(`^(?:class|interface|type) ${groups?.["of"]}\\b`, "m").test(text),
  );
  expect(missing.map(([line]) => line)).toEqual([]);
});
