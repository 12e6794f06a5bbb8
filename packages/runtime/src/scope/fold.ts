/** From a scope's lines back to its state; a line that today's core would not write is a fault, and stops it. */
import { type Fault, type Recorded, type State, describeFault, follow, initial, recordedOf } from "@pawl/sansio-core";
import { describe, parseRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { JournalLine } from "../journal/journal.ts";
import { isSealedLine, sealedHere } from "../journal/seal.ts";

/** The scope's history is not what this core makes of it: the scope is read-only until somebody has looked. */
export class Quarantined extends Error {
  override readonly name = "Quarantined";
  readonly code = "quarantined";
  readonly fault: Fault | undefined;
  constructor(scope: string, message: string, fault?: Fault) {
    super(`scope ${scope} is quarantined: ${message}`);
    this.fault = fault;
  }
}

/** What a line records. The store is trusted to give back what it was given, and checked all the same. */
export const recordedIn = (scope: string, { seq, line }: JournalLine): Recorded => {
  if (isSealedLine(line)) throw sealedHere(scope);
  const json = parseRecord(line);
  const recorded = E.isLeft(json) ? json : recordedOf(json.right);
  if (E.isLeft(recorded)) throw new Quarantined(scope, `line ${seq}: ${describe(recorded.left)}`);
  return recorded.right;
};

/** The state after what the next line records. */
export const stateAfter = (scope: string, state: State, recorded: Recorded, seq: number): State => {
  const followed = follow(state, recorded, seq);
  if (E.isLeft(followed)) throw new Quarantined(scope, describeFault(followed.left), followed.left);
  return followed.right.state;
};

/** The state after these lines, which follow on another. */
export const foldLines = (scope: string, lines: readonly JournalLine[], from: State = initial(scope)): State => {
  let state = from;
  for (const line of lines) state = stateAfter(scope, state, recordedIn(scope, line), line.seq);
  return state;
};

export type ReadLines = (from: number) => Promise<readonly JournalLine[]>;

/** The lines at these places of the log. */
export const linesAt = async (readLines: ReadLines, seqs: readonly number[]): Promise<readonly JournalLine[]> => {
  if (seqs.length === 0) return [];
  const wanted = new Set(seqs);
  return (await readLines(seqs.reduce((a, b) => Math.min(a, b)))).filter(({ seq }) => wanted.has(seq));
};

/** What they record, by sequence. */
export const eventsIn = (scope: string, lines: readonly JournalLine[]): ReadonlyMap<number, Recorded> => {
  const events = new Map<number, Recorded>();
  for (const line of lines) events.set(line.seq, recordedIn(scope, line));
  return events;
};
