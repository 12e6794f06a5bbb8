/** The index of the decisions leads to each of them, and each says what a reader looks for. */
import { describe, expect, it } from "vitest";
import { files, textOf } from "./project.ts";

const folder = "docs/decisions/";
const index = textOf(`${folder}README.md`);
const pages = files.filter((file) => file.startsWith(folder) && file !== `${folder}README.md`);
const titleOf = (page: string): string => /^# (?<title>.+)\n/.exec(textOf(page))?.groups?.["title"] ?? "";
const listed = [...index.matchAll(/^- \[(?<title>.+)\]\((?<page>[^)]+)\)$/gm)].map(({ groups }) => ({
  page: `${folder}${groups?.["page"]}`,
  title: groups?.["title"],
}));

const byPage = (a: { readonly page: string }, b: { readonly page: string }): number => (a.page < b.page ? -1 : 1);

describe("the decisions", () => {
  it("are all in the index, each once, under their own titles", () => {
    const known = pages.map((page) => ({ page, title: titleOf(page) }));
    expect(listed.toSorted(byPage)).toEqual(known.toSorted(byPage));
  });

  it("have titles that differ", () => {
    expect(new Set(pages.map(titleOf)).size).toBe(pages.length);
  });

  it("say why, what was given up, and on which day, on one screen", () => {
    const incomplete = pages.filter((page) => {
      const text = textOf(page);
      const parts = [/^\*\*Why\*\*: ./m, /^\*\*Given up\*\*: ./m, /^Decided 2\d{3}-\d\d-\d\d\b/m];
      return !parts.every((part) => part.test(text)) || text.split("\n").length > 40;
    });
    expect(incomplete).toEqual([]);
  });
});
