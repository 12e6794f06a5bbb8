/** `@pawl/testkit`: the tools that pawl and its users test with. */
export {
  type Adapter,
  type Adapters,
  type Case,
  type CaseError,
  type CaseResult,
  UnknownInput,
  caseProtocol,
  openCasesUnder,
  type UnknownPart,
  differenceOf,
  judge,
  knownFields,
  knownName,
  printCase,
  readCases,
  runCase,
  wireRoundtrip,
  withFields,
} from "./cases.ts";
export { failingTool } from "./failing-tool.ts";
export { type Asked, Continued, type Script, type Scripted, type TestContext, testContext } from "./test-context.ts";
export { type JournalCheck, type JournalRig, journalChecks } from "./journal-suite.ts";
export { limitChecks } from "./journal/limit-check.ts";
export { type BlobCheck, type BlobRig, blobChecks } from "./blob-suite.ts";
export { type PlatformCheck, platformChecks } from "./platform-suite.ts";
export { moveChecks } from "./journal/move-check.ts";
export { type Actor, type Pick, VirtualClock, inOrder } from "./world/clock.ts";
export { type CrashOptions, type CrashReport, type EffectCount, exploreCrashes } from "./world/crash.ts";
export { type Happened } from "./world/ledger.ts";
export { type Director, type Fate, type Moment, describeMoment, lineFaults, storeFaults } from "./world/moment.ts";
export {
  type Again,
  describeCrashes,
  describeSchedules,
  describeSimulation,
  explorerMatchers,
} from "./world/report.ts";
export { type ModelScript, type ScriptedModelOptions, scriptedModel } from "./world/model.ts";
export { type Claim, type Outside, type Scenario, type ActOf, type ScenarioHost, callsOf } from "./world/scenario.ts";
export { runScenario } from "./world/run.ts";
export { type LostBody } from "./world/audit.ts";
export { type Outcome, type Blow, type Cause, type Harm, type Violation, describeBlows } from "./world/outcome.ts";
export { type WorldOptions } from "./world/world.ts";
export { type Simulation, type SimulateOptions, type SimulationFailure, simulate } from "./world/simulate.ts";
export { type Footprint, footprintOf, isIndependent } from "./world/footprint.ts";
export type { Arrival, Chooser } from "./world/gate.ts";
export {
  type ResultOfOrders,
  type ScheduleOptions,
  type ScheduleReport,
  type ScheduleViolation,
  exploreSchedules,
} from "./world/schedule.ts";
