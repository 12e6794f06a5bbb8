import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";

/** Code that Node has compiled, for every process that a test starts: it loads half as long with it. */
process.env["NODE_COMPILE_CACHE"] ??= resolve(import.meta.dirname, "node_modules/.cache/compiled");

const tests = ["test/**/*.test.ts", "packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts"];

/** Says if a file mocks modules or timers, or counts the objects of its process: what others have left would be in its way. */
const isAlone = (file: string): boolean =>
  /vi\.(?:mock|useFakeTimers)\(|queryObjects\(/.test(readFileSync(resolve(import.meta.dirname, file), "utf8"));

/**
 * Files with a process of their own: those, and what drives browsers and other processes for minutes. All others take
 * turns in one process per core, which loads the code under test once.
 */
const alone = [
  "apps/**/*.test.ts",
  "packages/driver-browser/**/*.test.ts",
  "packages/driver-node/test/{background,kill,move}/*.test.ts",
  "packages/driver-node/test/*-kill.test.ts",
  "packages/inspector/test/page.test.ts",
  "packages/{claude-agent,openai-agents}/test/**/*.test.ts", // The SDKs listen to their process.
  "packages/studio/test/*.test.ts",
  "packages/testkit/test/{core-sim,mutant}/*.test.ts",
  "packages/tools/test/browser-files.test.ts",
  "test/{example,hostile,pack,runtime,soak}/*.test.ts",
  "test/upgrade/proof.test.ts",
  ...globSync(tests, { cwd: import.meta.dirname }).filter(isAlone),
];

export default defineConfig({
  test: {
    reporters: ["dot", "./scripts/closing-line.ts"],
    maxWorkers: availableParallelism() + 1, // What is killed, and what waits for a browser, sleeps much.
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
