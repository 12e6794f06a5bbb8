/**
 * The TypeScript of README and docs: each block is a module of its own. What a block leaves to the reader stands in a
 * comment before it, `<!-- given: … -->`, and comes first in its module.
 */
import { type Dirent, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "../project.ts";

export interface Block {
  /** As a file: the page's name and the block's number in it. */
  readonly name: string;
  readonly text: string;
  readonly runs: "node" | "vitest" | "browser";
}

const fenced = /(?:<!-- given:\n(?<given>[\s\S]*?)-->\n+)?^```ts\n(?<text>[\s\S]*?)^```$/gm;

const runnerOf = (text: string): Block["runs"] => {
  if (text.includes('from "vitest"')) return "vitest";
  return /"@pawl\/(?:driver-browser|inspector)"/.test(text) ? "browser" : "node";
};

/** `readme` of the repository, `readme-tools` of a package. */
const nameOf = (page: string): string => {
  const folder = /^packages\/(?<folder>[^/]+)\//.exec(page)?.groups?.["folder"];
  const name = basename(page, ".md").toLowerCase();
  return folder === undefined ? name : `${name}-${folder}`;
};

const blocksOf = (page: string): readonly Block[] =>
  [...readFileSync(join(root, page), "utf8").matchAll(fenced)].map(({ groups }, i) => {
    const text = `${groups?.["given"] ?? ""}${groups?.["text"] ?? ""}`;
    const runs = runnerOf(text);
    const name = `${nameOf(page)}-${i + 1}${runs === "vitest" ? ".test" : ""}`;
    return { name, text: `${text}\nexport {};\n`, runs };
  });

const isPage = (entry: Dirent): boolean => entry.isFile() && entry.name.endsWith(".md");
const packages = readdirSync(join(root, "packages")).map((name) => join("packages", name));

export const pages: readonly string[] = [".", "docs", ...packages].flatMap((folder) =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter(isPage)
    .map(({ name }) => join(folder, name)),
);
export const blocks: readonly Block[] = pages.flatMap(blocksOf);
