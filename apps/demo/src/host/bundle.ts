/** Builds the page of the demo. */
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
      license: { fileName: "licenses.md" }, // The licences of the bundled dependencies.
    },
    worker: { format: "es" },
  });
};
