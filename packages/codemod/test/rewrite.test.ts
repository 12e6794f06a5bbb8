import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { afterEach, describe, expect, it } from "vitest";
import { NotParsed, releases, rewrite } from "../src/index.ts";

const all = releases["0.1-to-1.0"] ?? [];
const program = "defineTool({ parameters: p });\n";
const made: string[] = [];

/** Makes a folder with these files, to be removed after the test. */
const folderOf = (files: { readonly [path: string]: string }): string => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-codemod-"));
  made.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
};
const codemod = (folder: string, ...args: readonly string[]): string =>
  execFileSync(process.execPath, [resolve(import.meta.dirname, "../src/main.ts"), ...args], {
    cwd: folder,
    encoding: "utf8",
    stdio: "pipe",
  });

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

describe("a rewriting", () => {
  it("keeps every other character of a program", () => {
    const odd = "#!/usr/bin/env node\r\n// é 🦊\r\ndefineTool({\r\n\tparameters : p ,// why\r\n})";
    expect(rewrite("a.ts", odd, all).text).toBe(odd.replace("parameters", "inputSchema"));
  });

  it("refuses a text that is no program", () => {
    expect(() => rewrite("a.ts", "const = ;", all)).toThrow(NotParsed);
  });

  it("says which block of a page is no whole program, and rewrites the others", () => {
    const page = "```ts\nparameters: {,\n```\n\n```js\ndefineTool({ parameters });\n```\n";
    const { text, notes } = rewrite("a.md", page, all);
    expect(text).toContain("defineTool({ inputSchema: parameters })");
    expect(notes).toEqual([{ file: "a.md", line: 1, message: expect.stringContaining("by hand") }]);
  });

  it("finds a function that takes parts of a tool in a file beside the program", () => {
    const folder = folderOf({ "tool.ts": "export const made = (more: Partial<ToolDefinition>) => defineTool(more);" });
    const text = 'import { made as make } from "./tool.ts";\nmake({ parameters: p });';
    expect(rewrite(join(folder, "a.ts"), text, all).text).toContain("make({ inputSchema: p })");
  });
});

describe("the command", () => {
  it("rewrites what is below a folder, but no dependencies and nothing excepted", () => {
    const folder = folderOf({
      "src/a.ts": program,
      "src/old/b.ts": program,
      "node_modules/c.ts": program,
      "d.json": '{"parameters":1}',
    });
    expect(codemod(folder, "0.1-to-1.0", "--except", "src/old")).toBe("rewrote src/a.ts\n1 file rewritten\n");
    expect(readFileSync(join(folder, "src/a.ts"), "utf8")).toBe("defineTool({ inputSchema: p });\n");
    expect(readFileSync(join(folder, "src/old/b.ts"), "utf8")).toBe(program);
    expect(codemod(folder, "0.1-to-1.0", "src/a.ts")).toBe("0 files rewritten\n");
  });

  it("writes nothing with --dry-run", () => {
    const folder = folderOf({ "a.ts": program });
    expect(codemod(folder, "0.1-to-1.0", "--dry-run")).toBe("would rewrite a.ts\n1 file to rewrite\n");
    expect(readFileSync(join(folder, "a.ts"), "utf8")).toBe(program);
  });

  it("says which releases there are", () => {
    expect(() => codemod(folderOf({}), "2-to-3")).toThrow("no release `2-to-3`: expected one of 0.1-to-1.0");
  });
});
