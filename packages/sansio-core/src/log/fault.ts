/**
 * A fault: a fact about a log that should not be. Reading and replaying report the first one, as a value, and stop
 * there; nothing after it can be trusted. A scope whose log has one is quarantined: read-only, others unaffected.
 */
import type { Path } from "@pawl/tool-value";
import type { Command, Event } from "../kernel/vocabulary.ts";
import type { Deadline } from "../kernel/deadline.ts";
import type { Rejection } from "../kernel/error.ts";
import type { Difference } from "./compare.ts";

/** Problems of a line, or of its place among the others. */
type LineFaultCode =
  /** There is not even a header. */
  | "log_empty"
  | "header_invalid"
  | "segment_invalid"
  | "newer_format"
  | "newer_protocol"
  /** No JSON, and other lines follow; at the very end it is a torn line, and no fault. */
  | "line_corrupt"
  /** JSON, but no record. */
  | "record_invalid"
  | "sequence_gap"
  | "epoch_went_back"
  /** The line is of another epoch than its scope is after it. */
  | "epoch_mismatch"
  /** The log goes on from another place, or in another scope, than the state that it is replayed from. */
  | "base_mismatch"
  | "scope_mismatch";

interface Base {
  readonly type: "fault";
  /** Counts lines of the log's text from 1. */
  readonly line: number;
  readonly message: string;
}

export interface LineFault extends Base {
  readonly code: LineFaultCode;
  readonly seq?: number;
  /** Where in the line, if that is known. */
  readonly path?: Path;
}

/** Commands and deadline that today's core derives from an event. */
export interface Produced {
  readonly commands: readonly Command[];
  readonly deadline?: Deadline;
}

/** Today's core refuses an event that was accepted once. */
interface RejectedFault extends Base {
  readonly code: "event_rejected";
  readonly seq: number;
  readonly event: Event;
  readonly rejection: Rejection;
}

/** Today's core accepts the event and acts otherwise than the one that recorded it. */
interface DivergedFault extends Base {
  readonly code: "diverged";
  readonly seq: number;
  readonly event: Event;
  /** The digest that was recorded, and that of what the core does today. */
  readonly expected: string;
  readonly found: string;
  readonly today: Produced;
  /** Against what was written out, or against a second log; none where there was nothing to compare with. */
  readonly differences: readonly Difference[];
}

/** The digests are the same, but what was written out, or a second log, says otherwise. */
interface DiffersFault extends Base {
  readonly code: "commands_differ" | "logs_differ";
  readonly seq: number;
  readonly event: Event;
  readonly today: Produced;
  readonly differences: readonly Difference[];
}

export type Fault = LineFault | RejectedFault | DivergedFault | DiffersFault;
export type FaultCode = Fault["code"];

export const lineFault = (
  code: LineFaultCode,
  message: string,
  at: { readonly line: number; readonly seq?: number; readonly path?: Path },
): LineFault => ({ type: "fault", code, message, ...at });
