/**
 * Bundles the programs that a test starts by the hundred, with the threads that they start: a start takes a third of the time
 * that some 500 modules take.
 */
import { globSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { build } from "rolldown";
import { pathOf } from "../project.ts";

const own = pathOf("packages/driver-node");
const threads = {
  "thread-worker": join(own, "src/journal/thread-worker.ts"),
  "checkpoint-thread": join(own, "src/sqlite/checkpoint-thread.ts"),
};

/** A worker of Vitest is killed at its end, and leaves its folder behind: the next run removes it, once nobody can need it. */
const staleMs = 24 * 3_600_000;
const removeStale = (): void => {
  for (const folder of globSync(join(own, "node_modules/.bundled-*")))
    if ((statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < Date.now() - staleMs)
      rmSync(folder, { recursive: true, force: true });
};

/** Writes a program as one module, and returns its path. */
export const bundled = async (program: string): Promise<string> => {
  removeStale();
  const folder = mkdtempSync(join(own, "node_modules/.bundled-")); // Here, so that it finds what it requires.
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  await build({
    input: { ...threads, program },
    platform: "node",
    output: { dir: folder, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
    logLevel: "warn",
  });
  return join(folder, "program.js");
};
