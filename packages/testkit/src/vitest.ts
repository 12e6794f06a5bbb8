/** `@pawl/testkit/vitest`: adds `toBeSafe` to Vitest and its types. */
import { expect } from "vitest";
import { explorerMatchers } from "./world/report.ts";

declare module "vitest" {
  interface Matchers {
    /** Checks an explorer's report: nothing is lost, doubled or stuck, after any crash and in any order. */
    toBeSafe: () => void;
  }
}

expect.extend(explorerMatchers);
