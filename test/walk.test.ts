/** Holds that `docs/walk.md` says what runs today, and that a call goes through no more files than it may. */
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { pathOf, root, textOf } from "./project.ts";

interface Walked {
  readonly title: string;
  readonly bound: number;
  readonly files: readonly string[];
}

/** Numbers of files that do not meet their bound yet: lower one when it got better, take it out when the bound holds. */
const today: { readonly [title: string]: number } = {
  "A call of one step": 124,
  "An approval over WebSocket": 149,
};

const printed = execFileSync(process.execPath, [pathOf("scripts/walk.ts"), "--page"], { cwd: root, encoding: "utf8" });
const { page, walks } = JSON.parse(printed) as { readonly page: string; readonly walks: readonly Walked[] };

const packagesOf = ({ files }: Walked): readonly string[] =>
  [...new Set(files.map((file) => file.split("/")[1] as string))].toSorted();

describe("the walk", () => {
  it("is as docs/walk.md has it; `pnpm walk` writes it anew", () => {
    expect(textOf("docs/walk.md")).toBe(page);
  });

  it.each(walks)("goes through no more files than it may: $title", ({ title, bound, files }) => {
    expect(files.length).toBeLessThanOrEqual(Math.max(bound, today[title] ?? bound));
  });

  it("goes through the packages in both cases, down to the journal", () => {
    expect(walks.map(packagesOf)).toEqual([
      ["driver-node", "runtime", "sansio-core", "tool-value"],
      ["driver-node", "runtime", "sansio-core", "tool-value", "wire"],
    ]);
  });

  it("names what each file is for", () => {
    const nameless = page.split("\n").filter((line) => /^- \*\*.*\*\*$/.test(line.trim()));
    expect(nameless).toEqual([]);
  });
});
