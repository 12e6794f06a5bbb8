import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts"],
    reporters: ["dot", "./scripts/closing-line.ts"],
    maxWorkers: "100%", // What is killed sleeps much: one core left free would be left idle.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
