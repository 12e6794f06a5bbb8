/** The site of the docs. Its pages are those of `docs/`; a link to a file of the repository is shown as its name. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type DefaultTheme, defineConfig } from "vitepress";
import { anchorOf } from "./anchor.ts";
import { llmsFullText, llmsText } from "./llms.ts";
import { type Part, docs, partsOf, pathOf, titleOf } from "./page.ts";

const linkTo = (page: string): DefaultTheme.SidebarItem => ({ text: titleOf(page), link: pathOf(page) });

const sidebarOf = ({ title, pages }: Part): DefaultTheme.SidebarItem => {
  const grouped = (folder: string): readonly string[] => pages.filter((page) => page.startsWith(`${folder}/`));
  const groups = ["api", "decisions"].flatMap((folder): readonly DefaultTheme.SidebarItem[] => {
    const [first, ...others] = grouped(folder);
    return first === undefined
      ? []
      : [{ text: titleOf(first), link: pathOf(first), collapsed: true, items: others.map(linkTo) }];
  });
  return { text: title, items: [...pages.filter((page) => !page.includes("/")).map(linkTo), ...groups] };
};

/** Tells if a link leads out of `docs/`, into the code of the repository. */
const leadsOut = (href: string, page: string): boolean => {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return false;
  return !new URL(href, `file:///repository/docs/${page}`).pathname.startsWith("/repository/docs/");
};

/** Finds a module from here: the pages lie in a folder without packages of its own. */
const found = (name: string): string => fileURLToPath(import.meta.resolve(name));

export default defineConfig({
  title: "pawl",
  description: "Tool calls of AI agents that survive crashes",
  lang: "en",
  srcDir: docs,
  outDir: join(import.meta.dirname, "../dist"),
  cacheDir: join(import.meta.dirname, "../node_modules/.cache/vitepress"),
  cleanUrls: true,
  rewrites: { "decisions/README.md": "decisions/index.md" },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: partsOf().map(({ title, pages: [first = "index"] }) => ({ text: title, link: pathOf(first) })),
    sidebar: partsOf().map(sidebarOf),
  },
  vite: {
    resolve: {
      alias: [
        { find: /^vue\/server-renderer$/, replacement: found("vue/server-renderer") },
        { find: /^vue$/, replacement: found("vue") },
      ],
    },
    build: { chunkSizeWarningLimit: 4000 }, // The index of the search.
  },
  markdown: {
    anchor: { slugify: anchorOf },
    config: (markdown) => {
      markdown.core.ruler.push("links out of the docs", ({ tokens, env }) => {
        for (const { children } of tokens)
          for (const [i, token] of (children ?? []).entries()) {
            const href = token.type === "link_open" ? token.attrGet("href") : null;
            if (href === null || !leadsOut(href, (env as { readonly relativePath: string }).relativePath)) continue;
            const end = (children ?? []).slice(i).find(({ type }) => type === "link_close");
            for (const link of [token, ...(end === undefined ? [] : [end])])
              Object.assign(link, { tag: "span", attrs: null });
          }
      });
    },
  },
  buildEnd: ({ outDir }) => {
    writeFileSync(join(outDir, "llms.txt"), llmsText());
    writeFileSync(join(outDir, "llms-full.txt"), llmsFullText());
  },
});
