/**
 * A Vitest reporter that ends a run with what its reader needs: the slowest files, what was left out because the machine
 * lacks a program, and, as the last line of all, the one that CI reads: `N passed, N failed`.
 *
 * Where PAWL_CI is set, as `.ci/run` does, nothing may be left out: every skipped test counts as failed.
 */
import type { Reporter, TestModule } from "vitest/node";
import { missingPrograms } from "../test/program.ts";

const shownFiles = 20;
const isStrict = (process.env["PAWL_CI"] ?? "") !== "";

const seconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(7);

/** Loading is what a file waits for before its first test: its process, its setup and its imports. */
const timesOf = (module: TestModule): { readonly file: string; readonly tests: number; readonly loading: number } => {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  const loading = environmentSetupDuration + prepareDuration + collectDuration + setupDuration;
  return { file: module.relativeModuleId, tests: duration, loading };
};

const slowest = (modules: readonly TestModule[]): readonly string[] => {
  const times = modules.map(timesOf).toSorted((a, b) => b.tests + b.loading - (a.tests + a.loading));
  const rows = times
    .slice(0, shownFiles)
    .map(({ file, tests, loading }) => `${seconds(tests)} ${seconds(loading)}  ${file}`);
  return [`the slowest files, in seconds of their tests and of loading:`, ...rows];
};

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  pending: number;
}

const countsOf = (modules: readonly TestModule[], errors: readonly unknown[]): Counts => {
  const counts: Counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
  for (const module of modules) {
    const before = counts.failed;
    for (const test of module.children.allTests()) counts[test.result().state] += 1;
    // A file or a hook outside of any test has failed.
    if (module.state() === "failed" && counts.failed === before) counts.failed += 1;
  }
  return counts;
};

const leftOut = (skipped: number): readonly string[] => {
  if (skipped === 0) return [];
  const missing = missingPrograms().map(({ name, remedy }) => `  ${name} is missing: ${remedy}`);
  return [`left out${isStrict ? ", which counts as failed" : ""}: ${skipped} tests`, ...missing];
};

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const { passed, failed, skipped } = countsOf(modules, errors);
    const isRefused = isStrict && skipped > 0;
    const closing = isRefused
      ? `${passed} passed, ${failed + skipped} failed`
      : `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    process.on("exit", () => {
      for (const line of [...slowest(modules), ...leftOut(skipped), closing]) console.log(line);
    });
    if (isRefused) process.exitCode = 1;
  }
}
