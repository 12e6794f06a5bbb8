/** Links in the docs lead to headings that exist. `tidy.test.ts` holds that the pages exist. */
import { dirname, join, normalize } from "node:path";
import { expect, it } from "vitest";
import { anchorOf } from "../apps/site/.vitepress/anchor.ts";
import { files, textOf } from "./project.ts";

const pages = files.filter((file) => file.endsWith(".md"));

const anchorsIn = (page: string): readonly string[] =>
  [...textOf(page).matchAll(/^#+ (?<heading>.+)$/gm)].map(({ groups }) => anchorOf(groups?.["heading"] ?? ""));

interface Link {
  readonly page: string;
  readonly target: string;
  readonly anchor: string;
}

const links = pages.flatMap((page): readonly Link[] =>
  [...textOf(page).matchAll(/\]\((?<path>[^():#]*)#(?<anchor>[^)]+)\)/g)].map(({ groups }) => {
    const { path = "", anchor = "" } = groups ?? {};
    return { page, anchor, target: path === "" ? page : normalize(join(dirname(page), path)) };
  }),
);

it("a link into a page names one of its headings", () => {
  expect(links.length).toBeGreaterThan(20);
  const dead = links.filter(({ target, anchor }) => pages.includes(target) && !anchorsIn(target).includes(anchor));
  expect(dead).toEqual([]);
});
