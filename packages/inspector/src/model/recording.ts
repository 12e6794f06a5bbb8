/**
 * A log with time travel. The log is read in pieces and replayed once. The lines are kept as text, with a checkpoint of the
 * state every 64 events: states share their structure, so that a checkpoint costs little, and any event is at most 63 steps
 * from one.
 */
import {
  type Fault,
  type Header,
  type Recorded,
  type State,
  type Transition,
  describeFault,
  follow,
  initial,
  recordedOf,
  step,
} from "@pawl/sansio-core";
import {
  type PackedBlob,
  type Reading,
  type Torn,
  beginReading,
  blobLine,
  endReading,
  feed,
} from "@pawl/sansio-core/driver";
import { describe, noLimits, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type MissingValue, containedIn, missingIn } from "./missing-values.ts";
import { type Entry, entryOf } from "./entry.ts";
import { type Moment, momentOf, unknownMomentOf } from "./moment.ts";
import { LaneBuilder } from "./lane-builder.ts";
import { changeTimeline } from "./timeline-changes.ts";

const checkpointEvery = 64;
const ended = (line: string): string => `${line}\n`;

export interface Problem {
  /** The last event that can be trusted. */
  readonly seq: number;
  readonly words: string;
}

/** Holds a log that was folded once, with a state every 64 events. */
export class Recording {
  readonly lanes = new LaneBuilder();
  readonly entries: Entry[] = [];
  readonly #forkedAt: number | undefined;
  #reading: Reading = beginReading;
  #lines: string[] = [];
  /** The number of lines before the first event. */
  #before: number | undefined;
  #rest = "";
  #state: State | undefined;
  /** The states after the events `base + n * checkpointEvery`. */
  readonly #checkpoints: State[] = [];
  /** The state that was computed last: the next question is often close to it. */
  #latest: State | undefined;
  #fault: Fault | undefined;
  #torn: Torn | undefined;

  /** `forkedAt`: the last event that a fork shares with its original. */
  constructor(forkedAt?: number) {
    this.#forkedAt = forkedAt;
  }

  get header(): Header | undefined {
    return this.#reading.header;
  }
  /** The event that the log begins after. */
  get base(): number {
    return this.header?.base ?? 0;
  }
  get last(): number {
    return this.base + this.entries.length;
  }
  /** The last event whose state is known. */
  get trusted(): number {
    return this.#state?.seq ?? this.base;
  }
  get text(): string {
    return this.textOf(this.#lines.length, []);
  }
  /** The number of lines. */
  get size(): number {
    return this.#lines.length;
  }

  /** Returns the first lines as text, with blobs packed in front of the first event. */
  textOf(lines: number, blobs: readonly PackedBlob[]): string {
    const before = Math.min(this.#offset, lines);
    const [head, rest] = [this.#lines.slice(0, before), this.#lines.slice(before, lines)];
    return [...head.map(ended), ...blobs.map(blobLine), ...rest.map(ended)].join("");
  }

  /** The large values that the log names but does not contain. */
  get missing(): readonly MissingValue[] {
    const [head, events] = [this.#lines.slice(0, this.#offset), this.#lines.slice(this.#offset)];
    return missingIn(head, events, this.base);
  }

  /** The large values that the log contains. */
  get contained(): readonly PackedBlob[] {
    return containedIn(this.#lines.slice(0, this.#offset));
  }

  /** The fault of the log, or a note about a torn last line. */
  get problem(): Problem | undefined {
    const seq = this.trusted;
    if (this.#fault !== undefined) return { seq, words: describeFault(this.#fault) };
    if (this.#torn === undefined) return undefined;
    const words = `Line ${this.#torn.line} is torn: the end of an append that was never acknowledged.`;
    return { seq, words };
  }

  feed(chunk: string): void {
    const parts = (this.#rest + chunk).split("\n");
    this.#rest = parts.pop() ?? "";
    for (const line of parts) this.#lines.push(line);
    const { reading, events, line } = feed(this.#reading, chunk);
    this.#reading = reading;
    if (line !== undefined) this.#before ??= line - 1;
    if (reading.header !== undefined && this.#state === undefined && this.#fault === undefined) this.#begin(reading);
    for (const recorded of events) this.#take(recorded);
    if (reading.fault !== undefined) this.#fail(reading.fault);
  }

  /** Ends the text. */
  end(): void {
    const end = endReading(this.#reading);
    if (end?.type === "fault") this.#fail(end);
    else this.#torn = end;
  }

  #begin({ header, base }: Reading): void {
    if (header === undefined || (header.base > 0 && base === undefined)) return;
    this.#state = base?.state ?? initial(header.scope);
    this.#checkpoints.push(this.#state);
  }

  #fail(fault: Fault): void {
    if (this.#fault !== undefined) return;
    this.#fault = fault;
    this.lanes.mark({ seq: Math.max(1, this.trusted), type: "fault", label: `fault: ${fault.code}` });
  }

  #take(recorded: Recorded): void {
    this.entries.push(entryOf(recorded));
    const before = this.#state;
    if (this.#fault !== undefined || before === undefined) return;
    const line = this.#offset + recorded.seq - this.base;
    const followed = follow(before, recorded, line);
    if (E.isLeft(followed)) return this.#fail(followed.left);
    changeTimeline(this.lanes, before, recorded, followed.right, this.#forkedAt);
    this.#state = followed.right.state;
    if (this.entries.length % checkpointEvery === 0) this.#checkpoints.push(this.#state);
  }

  get #offset(): number {
    return this.#before ?? this.#lines.length;
  }

  lineAt(seq: number): string {
    return this.#lines[this.#offset + seq - this.base - 1] ?? "";
  }

  #recordedAt(seq: number): Recorded {
    const json = parse(this.lineAt(seq), noLimits);
    const recorded = E.isLeft(json) ? json : recordedOf(json.right);
    if (E.isLeft(recorded)) throw new Error(`line of event ${seq}: ${describe(recorded.left)}`);
    return recorded.right;
  }

  /** Returns the events of a range, both ends included. */
  events(from: number, to: number): readonly Recorded[] {
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => this.#recordedAt(from + i));
  }

  #stepped(state: State, seq: number): Transition {
    const result = step(state, this.#recordedAt(seq));
    if (E.isLeft(result)) throw new Error(`event ${seq} replayed before, and does not now: ${result.left.message}`);
    return result.right;
  }

  /** Returns the state after an event, if it is known. */
  stateAt(seq: number): State | undefined {
    if (seq < this.base || seq > this.trusted) return undefined;
    const checkpoint = this.#checkpoints[Math.floor((seq - this.base) / checkpointEvery)];
    const latest = this.#latest;
    const isCloser = latest !== undefined && latest.seq <= seq && latest.seq > (checkpoint?.seq ?? 0);
    let state = isCloser ? latest : checkpoint;
    while (state !== undefined && state.seq < seq) state = this.#stepped(state, state.seq + 1).state;
    this.#latest = state;
    return state;
  }

  momentAt(seq: number): Moment {
    const line = this.lineAt(seq);
    const before = seq > this.trusted ? undefined : this.stateAt(seq - 1);
    if (before === undefined) return unknownMomentOf(seq, line);
    const transition = this.#stepped(before, seq);
    this.#latest = transition.state;
    return momentOf(line, this.#recordedAt(seq), before, transition);
  }

  /** Returns the events whose lines contain all of these words, in any case. */
  search(query: string): readonly number[] {
    const words = query
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    if (words.length === 0) return [];
    return this.entries.flatMap(({ seq }) => {
      const line = this.lineAt(seq).toLowerCase();
      return words.every((word) => line.includes(word)) ? [seq] : [];
    });
  }
}
