/** `@pawl/inspector/model`: logs as data for an inspector; pure, without a browser. */
export { type Entry, type Topic, entryOf, keyName, topicOf } from "./entry.ts";
export {
  type Lane,
  type LaneKind,
  type Mark,
  type Span,
  type SpanEnd,
  type LaneUpdate,
  LaneBuilder,
} from "./lane-builder.ts";
export { type CommandView, type Moment, type Waiting } from "./moment.ts";
export { type RowChange, type Section, type TreeRow } from "./tree.ts";
export { type MissingValue } from "./missing-values.ts";
export { Recording, type Problem } from "./recording.ts";
export {
  type Fork,
  type ForkError,
  type ForkedLine,
  type ContinuedFork,
  forkAt,
  continueAsRecorded,
  textOfFork,
} from "./fork.ts";
export { type FirstDifference, firstDifference } from "./compare.ts";
export { commandWords, dutyWords } from "./command-words.ts";
