/** `@pawl/testkit`: what pawl and its users test with. */
export {
  type Adapter,
  type Adapters,
  type Case,
  type CaseError,
  type CaseResult,
  differenceOf,
  judge,
  printCase,
  readCases,
  runCase,
  wireRoundtrip,
} from "./cases.ts";
export { type JournalCheck, journalChecks } from "./journal-suite.ts";
