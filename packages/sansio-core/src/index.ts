/**
 * `@pawl/sansio-core`: the pure state machine that decides everything a tool call can live through. A program steps it,
 * reads and writes its log, and asks why it stands where it stands. Drivers and runtimes find the rest in
 * `@pawl/sansio-core/driver`.
 */
export {
  digest,
  dutyOf,
  EventCodec,
  initial,
  nextDeadline,
  outstanding,
  step,
  type Transition,
  wakeAtOf,
} from "./machine.ts";
export {
  type State,
  type Envelope,
  type Event,
  type CommandOf,
  type EventOf,
  type EventType,
  type Finished,
  type Command,
  type Duty,
  type CallRef,
  callRef,
} from "./kernel/vocabulary.ts";
export { Invariant, type Rejection, type RejectionCode } from "./kernel/error.ts";
export { defaultOptions, invalidOption, Options } from "./kernel/options.ts";
export { currentProtocol } from "./kernel/protocol.ts";
export { ask, type Ask, type Asked } from "./call/effect/ask.ts";
export { plainTool, type Tool } from "./catalog/model.ts";
export { type Reply, type RequestedCall } from "./request/model.ts";
export {
  currentFormat,
  eventLine,
  type Header,
  headerLine,
  type Recorded,
  recordedOf,
  write,
  type Written,
} from "./log/format.ts";
export { follow, type Replay, replay, type ReplayOptions } from "./log/replay.ts";
export { type Fault, type FaultCode } from "./log/fault.ts";
export { describeFault } from "./log/compare.ts";
export { checkAll } from "./check.ts";
export { checkChange } from "./check-change.ts";
export { snapshot } from "./snapshot/write.ts";
export { stateHash } from "./log/hash.ts";
export { restore } from "./snapshot/restore.ts";
export { why } from "./explain/why.ts";
export { type Why } from "./explain/model.ts";
export { effectWords, otherWords, waitsWords } from "./explain/words.ts";
