import { resolve } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";

/** Code that Node has compiled, for every process that a test starts: it loads half as long with it. */
process.env["NODE_COMPILE_CACHE"] ??= resolve(import.meta.dirname, "node_modules/.cache/compiled");

const tests = ["test/**/*.test.ts", "packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts"];

/**
 * Files with a process of their own. They mock a module, count the objects of a process, or drive browsers and other
 * processes for minutes. All others take turns in one process per core, and load the code under test once.
 */
const alone = [
  "apps/**/*.test.ts",
  "packages/driver-browser/**/*.test.ts",
  "packages/driver-node/test/{background,kill,move}/*.test.ts",
  "packages/driver-node/test/{blob-kill,flow-kill}.test.ts",
  "packages/inspector/test/page.test.ts",
  "packages/runtime/test/leaving.test.ts", // Counts objects.
  "packages/runtime/test/tool/page-schema.test.ts", // Mocks a module.
  "packages/testkit/test/core-sim/*.test.ts",
  "packages/testkit/test/mutant/*.test.ts",
  "packages/tools/test/browser-files.test.ts",
  "test/{example,pack,runtime,soak}/*.test.ts",
];

export default defineConfig({
  test: {
    reporters: ["dot", "./scripts/closing-line.ts"],
    maxWorkers: "100%", // What is killed sleeps much: one core left free would be left idle.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    projects: [
      { extends: true, test: { name: "alone", include: alone } },
      {
        extends: true,
        test: {
          name: "shared",
          include: tests,
          exclude: [...configDefaults.exclude, ...alone],
          isolate: false,
          setupFiles: ["./test/leave-nothing.ts"],
        },
      },
    ],
  },
});
