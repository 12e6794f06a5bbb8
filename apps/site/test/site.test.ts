/** The site of the docs, built as `pnpm docs:build` builds it. The build fails where a link leads nowhere. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { root } from "../../../test/project.ts";
import { docs, leadOf, partsOf, titleOf } from "../.vitepress/page.ts";

const site = join(import.meta.dirname, "..");
const at = (path: string): string => readFileSync(join(site, "dist", path), "utf8");
const fileOf = (page: string): string => `${page.replace(/README$/, "index")}.html`;

describe("the site of the docs", () => {
  beforeAll(async () => {
    const node = promisify(execFile);
    await node(process.execPath, [join(root, "scripts/api.ts")]);
    await node(process.execPath, [join(site, "node_modules/vitepress/bin/vitepress.js"), "build"], { cwd: site });
  }, 600_000);

  it("has each page of the docs in one of its parts", () => {
    const listed = partsOf().flatMap(({ pages }) => pages);
    const written = readdirSync(docs, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".md") && file !== "index.md")
      .map((file) => file.slice(0, -3));
    expect(listed.toSorted()).toEqual(written.toSorted());
    for (const page of listed) expect([page, existsSync(join(site, "dist", fileOf(page)))]).toEqual([page, true]);
  });

  it("has no link that leads out of it into files of the repository", () => {
    for (const { pages } of partsOf())
      for (const page of pages) expect(at(fileOf(page))).not.toMatch(/href="[^"]*\.\.\/(?:packages|examples|README)/);
  });

  it("lists its pages for coding agents, and has them in one text", () => {
    const [list, whole] = [at("llms.txt"), at("llms-full.txt")];
    for (const page of ["tutorial", "tool-authoring", "errors", "api/runtime", "how-it-works"])
      expect(list).toContain(`](/${page}.md): ${leadOf(page)}`);
    for (const page of ["tutorial", "tool-authoring", "errors"]) expect(whole).toContain(`# ${titleOf(page)}\n`);
    expect(list).not.toContain("decisions/");
  });

  it("can be searched", () => {
    expect(readdirSync(join(site, "dist/assets/chunks")).some((file) => file.startsWith("@localSearchIndex"))).toBe(
      true,
    );
  });
});
