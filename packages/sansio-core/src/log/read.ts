/**
 * Reads a log as its text comes, in pieces of any size. A fold: what was read so far, and a piece of text, give what is
 * read now and the events whose lines have ended. The first fault ends it: what follows is not looked at.
 *
 * A line counts when its line feed is there. What stands at the very end without one, or as a cut piece of JSON, is a
 * torn line: the end of an append that was never acknowledged, and no fault. The same in the middle is corruption.
 */
import { type Json, type ValueError, parseRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import {
  type Base,
  type PackedAttachment,
  type PackedBlob,
  attachmentOf,
  blobOf,
  isSegment,
  segmentOf,
} from "./segment.ts";
import { type Fault, type LineFault, lineFault } from "./fault.ts";
import { type Header, type Recorded, headerOf, recordedOf } from "./format.ts";

/** A line that was never finished. */
export interface Torn {
  readonly type: "torn";
  readonly line: number;
  readonly text: string;
}

/** How far a log has been read. */
export interface Reading {
  readonly header: Header | undefined;
  /** Left by retention of the lines before, where the base of the log is not 0. */
  readonly base: Base | undefined;
  /** Lines that have ended, and the place of the last event. */
  readonly lines: number;
  readonly seq: number;
  readonly epoch: number;
  /** The beginning of a line whose end has not come yet. */
  readonly rest: string;
  /** A line that is torn if nothing follows it; and what is wrong with it if something does. */
  readonly torn: { readonly torn: Torn; readonly fault: Fault } | undefined;
  readonly fault: Fault | undefined;
}

interface Fed {
  readonly reading: Reading;
  readonly events: readonly Recorded[];
  /** The line of the first of these events. */
  readonly line?: number;
}

/** Begins to read a log; `feed` goes on with its text. */
export const beginReading: Reading = {
  header: undefined,
  base: undefined,
  lines: 0,
  seq: 0,
  epoch: 0,
  rest: "",
  torn: undefined,
  fault: undefined,
};

/** Returns whether the text may be the beginning of a record: it ends inside a string, or with something open. */
const isCut = (text: string): boolean => {
  let depth = 0;
  let isString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (isString && c === "\\") i += 1;
    else if (c === '"') isString = !isString;
    else if (!isString) depth += Number(c === "{" || c === "[") - Number(c === "}" || c === "]");
  }
  return isString || depth > 0 || text === "";
};

/** Receives the items that are read, with the line of the first event; a fault that it returns ends the reading. */
interface Sink {
  readonly onHeader: (header: Header, line: number) => Fault | undefined;
  readonly onBase?: (base: Base, line: number) => Fault | undefined;
  readonly onBlob?: (packed: PackedBlob) => void;
  readonly onAttachment?: (packed: PackedAttachment) => void;
  readonly onEvents: (events: readonly Recorded[], line: number) => Fault | undefined;
}

/** Lines are parsed, then decoded, then handed on, so many at once: each stage keeps warm, which is a fifth of the time. */
const atOnce = 64;

interface Sifted<B, X> {
  readonly good: readonly B[];
  /** The fault of the item after these. */
  readonly bad: X | undefined;
}
const upToFirst = <A, B, X>(items: readonly A[], of: (item: A) => E.Either<X, B>): Sifted<B, X> => {
  const good: B[] = [];
  for (const item of items) {
    const result = of(item);
    if (E.isLeft(result)) return { good, bad: result.left };
    good.push(result.right);
  }
  return { good, bad: undefined };
};
const jsonOf = (text: string): E.Either<ValueError, Json> => parseRecord(text);

/** Explains why a line is no JSON. Lines of an export are often joined as if they had no ends of their own. */
const reasonOf = (text: string, message: string): string =>
  /^\s*$/.test(text)
    ? "the line is empty: each line brings its line feed along, so that they are joined with nothing"
    : message;

/** The reading while text is worked in. */
export class Reader {
  readonly #sink: Sink;
  #header: Header | undefined;
  #base: Base | undefined;
  #lines: number;
  #seq: number;
  #epoch: number;
  #rest: string;
  #torn: Reading["torn"];
  #fault: Fault | undefined;
  /** Lines that have ended, and are not worked in yet. */
  #waiting: string[] = [];

  constructor(from: Reading, sink: Sink) {
    this.#sink = sink;
    this.#header = from.header;
    this.#base = from.base;
    this.#lines = from.lines;
    this.#seq = from.seq;
    this.#epoch = from.epoch;
    this.#rest = from.rest;
    this.#torn = from.torn;
    this.#fault = from.fault;
  }

  get isOver(): boolean {
    return this.#fault !== undefined;
  }

  take(chunk: string): void {
    if (this.isOver) return;
    let start = 0;
    for (let end = chunk.indexOf("\n"); end !== -1 && !this.isOver; end = chunk.indexOf("\n", start)) {
      this.#waiting.push(this.#rest + chunk.slice(start, end));
      this.#rest = "";
      start = end + 1;
      if (this.#waiting.length === atOnce) this.#work();
    }
    if (start < chunk.length) this.#rest += chunk.slice(start);
  }

  /** Works in what waits. */
  finish(): Reading {
    this.#work();
    if (this.#rest !== "") this.#fault ??= this.#torn?.fault;
    if (this.isOver) this.#rest = "";
    return {
      header: this.#header,
      base: this.#base,
      lines: this.#lines,
      seq: this.#seq,
      epoch: this.#epoch,
      rest: this.#rest,
      torn: this.#torn,
      fault: this.#fault,
    };
  }

  #work(): void {
    const texts = this.#waiting;
    this.#waiting = [];
    if (texts.length > 0) this.#fault ??= this.#torn?.fault; // A torn line is corrupt when something follows it.
    if (texts.length === 0 || this.isOver) return;
    const { good: jsons, bad } = upToFirst(texts, jsonOf);
    const begun = this.#withoutSegment(this.#header === undefined ? this.#withoutHeader(jsons) : jsons);
    this.#records(this.#withoutPacked(begun));
    if (this.isOver || bad === undefined) return;
    this.#unreadable(texts[jsons.length] as string, bad.message);
    if (jsons.length + 1 < texts.length) this.#fault ??= this.#torn?.fault;
  }

  /** A line that is no JSON: torn, as long as it is the last. */
  #unreadable(text: string, message: string): void {
    this.#lines += 1;
    const line = this.#lines;
    const fault = lineFault("line_corrupt", reasonOf(text, message), { line });
    if (isCut(text)) this.#torn = { torn: { type: "torn", line, text }, fault };
    else this.#fault = fault;
  }

  #withoutHeader([json, ...rest]: readonly Json[]): readonly Json[] {
    if (json === undefined) return rest;
    this.#lines += 1;
    const header = headerOf(json, this.#lines);
    if (E.isLeft(header)) {
      this.#fault = header.left;
      return [];
    }
    this.#header = header.right;
    this.#seq = header.right.base;
    this.#epoch = header.right.epoch;
    this.#fault = this.#sink.onHeader(header.right, this.#lines);
    return rest;
  }

  /** A log that goes on from a snapshot may bring it along, in its second line. */
  #withoutSegment(jsons: readonly Json[]): readonly Json[] {
    const [json, ...rest] = jsons;
    const header = this.#header;
    if (this.isOver || header === undefined || header.base === 0 || this.#lines !== 1 || !isSegment(json)) return jsons;
    this.#lines += 1;
    const base = segmentOf(header, json, this.#lines);
    if (E.isLeft(base)) {
      this.#fault = base.left;
      return [];
    }
    this.#base = base.right;
    this.#fault = this.#sink.onBase?.(base.right, this.#lines);
    return rest;
  }

  /** Attachments and blobs stand before the first event. */
  #withoutPacked(jsons: readonly Json[]): readonly Json[] {
    if (this.isOver || this.#seq !== this.#header?.base) return jsons;
    const first = jsons.findIndex((json) => !this.#isPacked(json));
    const count = first === -1 ? jsons.length : first;
    this.#lines += count;
    return jsons.slice(count);
  }

  #isPacked(json: Json): boolean {
    const blob = blobOf(json);
    const attachment = blob === undefined ? attachmentOf(json) : undefined;
    if (blob !== undefined) this.#sink.onBlob?.(blob);
    if (attachment !== undefined) this.#sink.onAttachment?.(attachment);
    return blob !== undefined || attachment !== undefined;
  }

  #records(jsons: readonly Json[]): void {
    if (this.isOver) return;
    const line = this.#lines + 1;
    const { good, bad } = upToFirst(jsons, recordedOf);
    const placed = upToFirst(good, (recorded) => this.#place(recorded));
    this.#fault = this.#sink.onEvents(placed.good, line) ?? placed.bad;
    if (this.isOver || bad === undefined) return;
    this.#lines += 1;
    this.#fault = lineFault("record_invalid", bad.message, { line: this.#lines, path: bad.path });
  }

  /** A record that stands where it has to stand. */
  #place(recorded: Recorded): E.Either<LineFault, Recorded> {
    const { seq, epoch } = recorded;
    this.#lines += 1;
    const at = { line: this.#lines, seq };
    if (seq !== this.#seq + 1) {
      return E.left(lineFault("sequence_gap", `expected sequence ${this.#seq + 1}, found ${seq}`, at));
    }
    if (epoch < this.#epoch) {
      return E.left(lineFault("epoch_went_back", `expected an epoch from ${this.#epoch}, found ${epoch}`, at));
    }
    this.#seq = seq;
    this.#epoch = epoch;
    return E.right(recorded);
  }
}

/** Reads on. */
export const feed = (reading: Reading, chunk: string): Fed => {
  const events: Recorded[] = [];
  let line = 0;
  const reader = new Reader(reading, {
    onHeader: () => undefined,
    onEvents: (read, first) => {
      if (events.length === 0) line = first;
      events.push(...read);
      return undefined;
    },
  });
  reader.take(chunk);
  const fed = { reading: reader.finish(), events };
  return events.length === 0 ? fed : { ...fed, line };
};

/** How a log ends that has no more text: with a whole line, with a torn one, or with what is wrong with it. */
export const endReading = ({ header, lines, rest, torn, fault }: Reading): Torn | Fault | undefined => {
  if (fault !== undefined) return fault;
  if (torn !== undefined) return torn.torn;
  if (rest !== "") return { type: "torn", line: lines + 1, text: rest };
  return header === undefined ? lineFault("log_empty", "expected a header, found nothing", { line: 1 }) : undefined;
};
