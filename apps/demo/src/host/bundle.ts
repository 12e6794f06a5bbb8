/** Builds the page of the demo into a folder. */
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

export const buildPage = async (outDir: string): Promise<void> => {
  await build({
    root,
    configFile: false,
    logLevel: "error",
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2024",
      chunkSizeWarningLimit: 2_000,
      assetsInlineLimit: 0,
      license: { fileName: "licenses.md" }, // Of what others wrote and the page brings along.
    },
    worker: { format: "es" },
  });
};
