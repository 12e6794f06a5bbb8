/** `@pawl/testkit/mix`: the standard mix, which tries the core itself. */
export { Coverage, type Covered } from "./coverage.ts";
export { type SmallMix, minimiseMix, smallestLog } from "./minimise.ts";
export { type MixFault, type MixOptions, type MixRun, mixFaults, runMix } from "./mix.ts";
export { type MixReport, type MixesOptions, describeMixes, runMixes } from "./run.ts";
export { type MixHarm, MixViolation } from "./violation.ts";
export { type MixCoverage, mixCoverage } from "./wanted.ts";
