/** A Vitest reporter that ends a run with the line that CI reads: `N passed, N failed`. */
import type { Reporter, TestModule } from "vitest/node";

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.state() === "failed" && [...module.children.allTests()].length === 0) counts.failed += 1;
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
    }
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
    process.on("exit", () => console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`));
  }
}
