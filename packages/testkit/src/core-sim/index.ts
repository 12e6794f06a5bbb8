/** `@pawl/testkit/core-sim`: simulates the core without a runtime. */
export { Coverage, type Covered } from "./coverage.ts";
export { type SmallCoreSim, minimiseCoreSim, smallestLog } from "./minimise.ts";
export {
  type CoreSimCut,
  type CoreSimFault,
  type CoreSimOptions,
  type CoreSimRun,
  coreSimFaults,
  cutCoreSim,
  runCoreSim,
} from "./simulator.ts";
export { type Entry } from "./store.ts";
export { type CoreSimReport, type CoreSimsOptions, describeCoreSims, runCoreSims } from "./report.ts";
export { type CoreSimHarm, CoreSimViolation } from "./violation.ts";
export { type CoreSimCoverage, coreSimCoverage } from "./coverage.ts";
