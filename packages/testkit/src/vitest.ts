/** `@pawl/testkit/vitest`: what makes `toBeSafe` known to Vitest and to its types. */
import { expect } from "vitest";
import { explorerMatchers } from "./world/report.ts";

declare module "vitest" {
  interface Matchers {
    /** Of a report of an explorer: nothing is lost, doubled or stuck, wherever it died and in whatever order. */
    toBeSafe: () => void;
  }
}

expect.extend(explorerMatchers);
