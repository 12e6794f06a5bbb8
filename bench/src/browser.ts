/** How much a page loads that runs sessions itself: core, runtime and the browser's driver, minified and compressed. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { build } from "rolldown";
import type { Figure } from "./figure.ts";

const driver = resolve(import.meta.dirname, "../../packages/driver-browser");

/** What a page with a tool of its own imports. */
const page = `
import { openTab } from "@pawl/driver-browser";
import { defineTool } from "@pawl/runtime";
globalThis.tab = openTab({ name: "size", tools: [defineTool({ name: "t", execute: () => null })] });
`;

/** Minified by rolldown and compressed by brotli, in units of 1,024 bytes. */
export const browserSizeKb = async (): Promise<number> => {
  const folder = mkdtempSync(join(driver, "dist-size-"));
  try {
    const input = join(folder, "page.js");
    writeFileSync(input, page.replace("@pawl/driver-browser", "../src/index.ts"));
    const { output } = await build({
      input,
      platform: "browser",
      output: { format: "esm", minify: true, codeSplitting: false },
      write: false,
      logLevel: "warn",
    });
    return brotliCompressSync(output[0].code).length / 1024;
  } finally {
    rmSync(folder, { recursive: true });
  }
};

export const browserFigures: readonly Figure[] = [
  {
    name: "browser.size_kb",
    what: "core, runtime and driver of a page, minified by rolldown, compressed by brotli",
    unit: "KB",
    bound: 60,
    rounds: 1,
    round: async () => ({ value: await browserSizeKb(), floor: 1 }),
  },
];
