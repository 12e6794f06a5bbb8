/**
 * Replays a log: folds it with today's core, and says where that first does otherwise than the core that recorded it.
 * An event that today's core refuses, or answers with other commands or another next deadline, is a fault; the state
 * before it is the last that can be trusted, and a fork may begin there.
 */
import * as E from "fp-ts/lib/Either.js";
import { type Transition, digest, hasDigest, initial, step } from "../machine.ts";
import type { State } from "../kernel/vocabulary.ts";
import { type Against, Comparison, producedBy } from "./compare.ts";
import type { Base, PackedAttachment, PackedBlob } from "./segment.ts";
import { type Fault, lineFault } from "./fault.ts";
import type { Header, Recorded } from "./format.ts";
import { type Torn, beginReading, endReading, Reader } from "./read.ts";

export interface ReplayOptions extends Against {
  /** The state to go on from, where the log's base is not 0 and the log does not bring it along. */
  readonly from?: State;
  /** Told of every event that replays as it was recorded. */
  readonly onStep?: (recorded: Recorded, transition: Transition) => void;
  /** Told of every blob that the log brings along. */
  readonly onBlob?: (packed: PackedBlob) => void;
  /** And of every attachment. */
  readonly onAttachment?: (packed: PackedAttachment) => void;
}

export interface Replay {
  readonly header: Header | undefined;
  /** Left by retention of the lines before the first, where the log brings it along. */
  readonly base: Base | undefined;
  /** After the last event that replays as it was recorded. */
  readonly state: State | undefined;
  readonly events: number;
  readonly torn: Torn | undefined;
  readonly fault: Fault | undefined;
}

const diverged = (recorded: Recorded, transition: Transition, line: number): Fault => {
  const { seq, event, cmds: expected } = recorded;
  const found = digest(transition);
  const message = `${event.type} recorded the digest ${expected}; today's core gives ${found}`;
  const today = producedBy(transition);
  return { type: "fault", code: "diverged", line, seq, event, expected, found, today, differences: [], message };
};

/** One recorded event, taken by today's core. */
const accept = (state: State, recorded: Recorded, line: number): E.Either<Fault, Transition> => {
  const result = step(state, recorded);
  const { seq, epoch, event } = recorded;
  if (E.isLeft(result)) {
    const rejection = result.left;
    if (rejection.code === "newer_protocol")
      return E.left(lineFault("newer_protocol", rejection.message, { line, seq }));
    const message = `today's core rejects ${event.type}: ${rejection.code}: ${rejection.message}`;
    return E.left({ type: "fault", code: "event_rejected", line, seq, event, rejection, message });
  }
  const { scope } = result.right.state;
  if (scope.epoch === epoch) return result;
  const message = `the line is of epoch ${epoch}, but its scope is in epoch ${scope.epoch}`;
  return E.left(lineFault("epoch_mismatch", message, { line, seq }));
};

const problemOf = (recorded: Recorded, transition: Transition, line: number): Fault | undefined =>
  hasDigest(transition, recorded.cmds) ? undefined : diverged(recorded, transition, line);

/** One recorded event: what follows from it, if that is what followed from it once. */
export const follow = (state: State, recorded: Recorded, line: number): E.Either<Fault, Transition> => {
  const result = accept(state, recorded, line);
  const problem = E.isLeft(result) ? undefined : problemOf(recorded, result.right, line);
  return problem === undefined ? result : E.left(problem);
};

/** The state that a log goes on from. */
const startOf = ({ scope, base }: Header, from: State | undefined, line: number): E.Either<Fault, State> => {
  const state = from ?? initial(scope);
  if (state.scope.id !== scope) {
    return E.left(lineFault("scope_mismatch", `expected scope \`${state.scope.id}\`, found \`${scope}\``, { line }));
  }
  if (state.seq === base) return E.right(state);
  const message = `the log goes on from sequence ${base}, but the state given to go on from is at ${state.seq}`;
  return E.left(lineFault("base_mismatch", message, { line }));
};

const headerPlace = 1;

class Replayer {
  readonly #options: ReplayOptions;
  readonly #comparison: Comparison;
  #header: Header | undefined;
  state: State | undefined;
  events = 0;

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#comparison = new Comparison(options);
  }

  onHeader(header: Header, line: number): Fault | undefined {
    this.#header = header;
    return header.base > 0 && this.#options.from === undefined ? undefined : this.#start(line);
  }

  onBlob(packed: PackedBlob): void {
    this.#options.onBlob?.(packed);
  }

  onAttachment(packed: PackedAttachment): void {
    this.#options.onAttachment?.(packed);
  }

  onBase({ state }: Base): undefined {
    this.state ??= state;
  }

  /** Where the log itself brings no state to go on from. */
  #start(line: number): Fault | undefined {
    const start = startOf(this.#header as Header, this.#options.from, line);
    if (E.isLeft(start)) return start.left;
    this.state = start.right;
    return undefined;
  }

  /** A log without events may still have begun in the middle. */
  finish(): Fault | undefined {
    return this.#header === undefined || this.state !== undefined ? undefined : this.#start(headerPlace);
  }

  /** All of them are taken, then looked at: as with reading, each stage keeps warm. */
  onEvents(events: readonly Recorded[], line: number): Fault | undefined {
    if (events.length === 0) return undefined;
    const astray = this.state === undefined ? this.#start(headerPlace) : undefined;
    if (astray !== undefined) return astray;
    const taken: Transition[] = [];
    let state = this.state as State;
    let fault: Fault | undefined;
    for (let i = 0; i < events.length && fault === undefined; i++) {
      const result = accept(state, events[i] as Recorded, line + i);
      if (E.isLeft(result)) fault = result.left;
      else {
        state = result.right.state;
        taken.push(result.right);
      }
    }
    return this.#look(events, taken, line) ?? fault;
  }

  /** The first of these that is not what it was. */
  #look(events: readonly Recorded[], taken: readonly Transition[], line: number): Fault | undefined {
    for (const [i, transition] of taken.entries()) {
      const recorded = events[i] as Recorded;
      const problem = problemOf(recorded, transition, line + i);
      const fault = this.#comparison.isIdle ? problem : this.#compare(recorded, transition, line + i, problem);
      if (fault !== undefined) return fault;
      this.state = transition.state;
      this.events += 1;
      this.#options.onStep?.(recorded, transition);
    }
    return undefined;
  }

  #compare(recorded: Recorded, transition: Transition, line: number, problem: Fault | undefined): Fault | undefined {
    const today = producedBy(transition);
    const compared = this.#comparison.next(recorded, today);
    if (compared === undefined) return problem;
    const { code, differences } = compared;
    if (problem?.code === "diverged") return { ...problem, differences };
    const { seq, event } = recorded;
    const against = code === "commands_differ" ? "the commands that were written out" : "the second log";
    const message = `${event.type} differs from ${against}`;
    return { type: "fault", code, line, seq, event, today, differences, message };
  }
}

/** Replays a log, given as its lines or as its text in any pieces, up to its end or its first fault. */
export const replay = (lines: Iterable<string>, options: ReplayOptions = {}): Replay => {
  const replayer = new Replayer(options);
  const reader = new Reader(beginReading, replayer);
  for (const line of lines) {
    reader.take(line);
    if (reader.isOver) break;
  }
  const reading = reader.finish();
  const end = endReading(reading);
  const fault = end?.type === "fault" ? end : replayer.finish();
  return {
    header: reading.header,
    base: reading.base,
    state: replayer.state,
    events: replayer.events,
    torn: end?.type === "torn" ? end : undefined,
    fault,
  };
};
