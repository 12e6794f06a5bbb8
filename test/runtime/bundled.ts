/**
 * Bundles the programs that a test starts by the hundred, with the threads that they start: a start takes a third of the time
 * that some 500 modules take.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "rolldown";
import { pathOf } from "../project.ts";

const own = pathOf("packages/driver-node");
const threads = {
  "thread-worker": join(own, "src/journal/thread-worker.ts"),
  "checkpoint-thread": join(own, "src/sqlite/checkpoint-thread.ts"),
};

/** Writes a program as one module, and returns its path. It is gone when this process ends. */
export const bundled = async (program: string): Promise<string> => {
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
