/**
 * A log that is looked at: read as its text comes, folded once, and from then on at home at every event. It keeps the
 * lines as text and a state every so many events; states share what they have in common, so that this costs little,
 * and any event is a few steps from one that is kept.
 */
import {
  type Fault,
  type Header,
  type PackedBlob,
  type Reading,
  type Recorded,
  type State,
  type Torn,
  type Transition,
  beginReading,
  blobLine,
  describeFault,
  endReading,
  feed,
  follow,
  initial,
  recordedOf,
  step,
} from "@pawl/sansio-core";
import { describe, noLimits, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Absent, absentIn, broughtIn } from "./absent.ts";
import { type Entry, entryOf } from "./entry.ts";
import { type Moment, momentOf, strangerOf } from "./moment.ts";
import { Sheet } from "./sheet.ts";
import { weave } from "./weave.ts";

const keptEvery = 64;
const ended = (line: string): string => `${line}\n`;

export interface Trouble {
  /** The last event that can be trusted. */
  readonly seq: number;
  readonly words: string;
}

/** Holds a log that was folded once, with a state every 64 events. */
export class Recording {
  readonly sheet = new Sheet();
  readonly entries: Entry[] = [];
  readonly #forkedAt: number | undefined;
  #reading: Reading = beginReading;
  #lines: string[] = [];
  /** Lines that stand before the first event. */
  #before: number | undefined;
  #rest = "";
  #state: State | undefined;
  /** States after the events `base + n * keptEvery`. */
  readonly #kept: State[] = [];
  #near: State | undefined;
  #fault: Fault | undefined;
  #torn: Torn | undefined;

  /** `forkedAt`: of a fork that is opened anew, the last event that it has from its original. */
  constructor(forkedAt?: number) {
    this.#forkedAt = forkedAt;
  }

  get header(): Header | undefined {
    return this.#reading.header;
  }
  /** The event that the log goes on from. */
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
  /** How many lines there are. */
  get size(): number {
    return this.#lines.length;
  }

  /** Its first lines as a text, with blobs packed before the first event. */
  textOf(lines: number, blobs: readonly PackedBlob[]): string {
    const before = Math.min(this.#offset, lines);
    const [begun, rest] = [this.#lines.slice(0, before), this.#lines.slice(before, lines)];
    return [...begun.map(ended), ...blobs.map(blobLine), ...rest.map(ended)].join("");
  }

  /** Large values that it names, and does not bring along. */
  get absent(): readonly Absent[] {
    const [begun, events] = [this.#lines.slice(0, this.#offset), this.#lines.slice(this.#offset)];
    return absentIn(begun, events, this.base);
  }

  /** Large values that it brings along. */
  get brought(): readonly PackedBlob[] {
    return broughtIn(this.#lines.slice(0, this.#offset));
  }

  /** What is wrong with the log, if anything is; and a line that was never finished is told of. */
  get trouble(): Trouble | undefined {
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

  /** The text has come to its end. */
  end(): void {
    const end = endReading(this.#reading);
    if (end?.type === "fault") this.#fail(end);
    else this.#torn = end;
  }

  #begin({ header, base }: Reading): void {
    if (header === undefined || (header.base > 0 && base === undefined)) return;
    this.#state = base?.state ?? initial(header.scope);
    this.#kept.push(this.#state);
  }

  #fail(fault: Fault): void {
    if (this.#fault !== undefined) return;
    this.#fault = fault;
    this.sheet.mark({ seq: Math.max(1, this.trusted), type: "fault", label: `fault: ${fault.code}` });
  }

  #take(recorded: Recorded): void {
    this.entries.push(entryOf(recorded));
    const before = this.#state;
    if (this.#fault !== undefined || before === undefined) return;
    const line = this.#offset + recorded.seq - this.base;
    const followed = follow(before, recorded, line);
    if (E.isLeft(followed)) return this.#fail(followed.left);
    weave(this.sheet, before, recorded, followed.right, this.#forkedAt);
    this.#state = followed.right.state;
    if (this.entries.length % keptEvery === 0) this.#kept.push(this.#state);
  }

  get #offset(): number {
    return this.#before ?? this.#lines.length;
  }

  lineAt(seq: number): string {
    return this.#lines[this.#offset + seq - this.base - 1] ?? "";
  }

  /** A line that was read once. */
  #recordedAt(seq: number): Recorded {
    const recorded = E.chain(recordedOf)(parse(this.lineAt(seq), noLimits));
    if (E.isLeft(recorded)) throw new Error(`line of event ${seq}: ${describe(recorded.left)}`);
    return recorded.right;
  }

  /** Events in their order, both included. */
  events(from: number, to: number): readonly Recorded[] {
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => this.#recordedAt(from + i));
  }

  #stepped(state: State, seq: number): Transition {
    const result = step(state, this.#recordedAt(seq));
    if (E.isLeft(result)) throw new Error(`event ${seq} fitted once, and does not now: ${result.left.message}`);
    return result.right;
  }

  /** The state after an event, where it is known. */
  stateAt(seq: number): State | undefined {
    if (seq < this.base || seq > this.trusted) return undefined;
    const kept = this.#kept[Math.floor((seq - this.base) / keptEvery)];
    const near = this.#near;
    let state = near !== undefined && near.seq <= seq && near.seq > (kept?.seq ?? 0) ? near : kept;
    while (state !== undefined && state.seq < seq) state = this.#stepped(state, state.seq + 1).state;
    this.#near = state;
    return state;
  }

  momentAt(seq: number): Moment {
    const line = this.lineAt(seq);
    const before = seq > this.trusted ? undefined : this.stateAt(seq - 1);
    if (before === undefined) return strangerOf(seq, line);
    const transition = this.#stepped(before, seq);
    this.#near = transition.state;
    return momentOf(line, this.#recordedAt(seq), before, transition);
  }

  /** The events whose lines hold all of these words, whatever their case. */
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
