/** The pages of `docs/`, in the four parts of the site. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

export const docs = join(import.meta.dirname, "../../../docs");

export interface Part {
  readonly title: string;
  readonly pages: readonly string[];
}

const inFolder = (folder: string): readonly string[] =>
  readdirSync(join(docs, folder))
    .filter((file) => file.endsWith(".md") && file !== "README.md" && file !== "index.md")
    .map((file) => `${folder}/${file.slice(0, -3)}`);

/** Lists the parts. The API reference has been written before. */
export const partsOf = (): readonly Part[] => [
  { title: "Tutorial", pages: ["tutorial"] },
  {
    title: "How to",
    pages: [
      "tool-authoring",
      "turns",
      "model-apis",
      "mcp",
      "browser",
      "flows",
      "testing",
      "http",
      "operations",
      "many-machines",
      "scale",
      "cloudflare",
      "coming-from",
    ],
  },
  {
    title: "Reference",
    pages: [
      "errors",
      "glossary",
      "host-protocol",
      "log-format",
      "journal-file",
      "runtimes",
      "api/index",
      ...inFolder("api"),
    ],
  },
  {
    title: "Explanation",
    pages: [
      "how-it-works",
      "architecture",
      "driver-contract",
      "walk",
      "security",
      "performance",
      "deviations",
      "decisions/README",
      ...inFolder("decisions"),
    ],
  },
];

export const textOf = (page: string): string => readFileSync(join(docs, `${page}.md`), "utf8");

/** Returns the heading of a page. */
export const titleOf = (page: string): string => /^# (?<title>.+)$/m.exec(textOf(page))?.groups?.["title"] ?? page;

const isText = (paragraph: string): boolean => /^[\p{L}`*[]/u.test(paragraph);

/** Returns the first paragraph of a page, on one line. */
export const leadOf = (page: string): string => {
  const paragraphs = textOf(page).split(/\n{2,}/);
  return (paragraphs.find(isText) ?? "").replaceAll("\n", " ").replaceAll(/\[(?<text>[^\]]*)\]\([^)]*\)/g, "$<text>");
};

/** Returns the path of a page in the site. */
export const pathOf = (page: string): string => `/${page.replace(/(?:index|README)$/, "")}`;
