/** How much a page loads that runs sessions itself: core, runtime and the browser's driver, minified and compressed. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { type OutputChunk, build } from "rolldown";
import type { Figure } from "./figure.ts";

const driver = resolve(import.meta.dirname, "../../packages/driver-browser");

/** What a page with a tool of its own imports. */
const page = `
import { openTab } from "@pawl/driver-browser";
import { defineTool } from "@pawl/runtime";
globalThis.pawl = { defineTool, tab: openTab({ name: "size", tools: [defineTool({ name: "t", execute: () => null })] }) };
`;

export interface PageFiles {
  /** What the page loads before its first call; the first is its own. */
  readonly start: ReadonlyMap<string, string>;
  /** What it loads only when it needs it. */
  readonly later: ReadonlyMap<string, string>;
}

/** A file, with those that are loaded along with it. */
const along = (name: string, chunks: ReadonlyMap<string, OutputChunk>, found = new Set<string>()): Set<string> => {
  if (found.has(name)) return found;
  found.add(name);
  for (const other of chunks.get(name)?.imports ?? []) along(other, chunks, found);
  return found;
};

/**
 * The files of the page by their names, minified by rolldown. Hashes in names would be noise: with one or another in an
 * import, the same code takes up to 0.1 KB more or less when it is compressed.
 */
export const pageFiles = async (): Promise<PageFiles> => {
  const folder = mkdtempSync(join(driver, "dist-size-"));
  try {
    const input = join(folder, "page.js");
    writeFileSync(input, page.replace("@pawl/driver-browser", "../src/index.ts"));
    const { output } = await build({
      input,
      platform: "browser",
      output: { format: "esm", minify: true, chunkFileNames: "[name].js" },
      write: false,
      logLevel: "warn",
    });
    const chunks = new Map(output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file] as const] : [])));
    const first = along(output[0].fileName, chunks);
    const codes = [...chunks].map(([name, { code }]) => [name, code] as const);
    return {
      start: new Map(codes.filter(([name]) => first.has(name))),
      later: new Map(codes.filter(([name]) => !first.has(name))),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Each file compressed by brotli, in units of 1,024 bytes. */
export const kbOf = (codes: ReadonlyMap<string, string>): number =>
  [...codes.values()].reduce((sum, code) => sum + brotliCompressSync(code).length / 1024, 0);

export const browserFigures: readonly Figure[] = [
  {
    name: "browser.size_kb",
    what: "core, runtime and driver as a page starts with them, minified by rolldown, compressed by brotli",
    unit: "KB",
    bound: 60,
    rounds: 1,
    round: async () => ({ value: kbOf((await pageFiles()).start), floor: 1 }),
  },
  {
    name: "browser.later_kb",
    what: "what such a page loads when it needs it: all but calls of steps, JSON Schema, snapshots, moves, observers",
    unit: "KB",
    bound: 80,
    rounds: 1,
    round: async () => ({ value: kbOf((await pageFiles()).later), floor: 1 }),
  },
];
