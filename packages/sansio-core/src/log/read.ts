/**
 * Reads a log as its text comes, in pieces of any size. A fold: what was read so far, and a piece of text, give what is
 * read now and the events whose lines have ended. The first fault ends it: what follows is not looked at.
 *
 * A line counts when its line feed is there. What stands at the very end without one, or as a cut piece of JSON, is a
 * torn line: the end of an append that was never acknowledged, and no fault. The same in the middle is corruption.
 */
import { type Json, noLimits, parse, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { currentProtocol } from "../protocol.ts";
import { type Fault, type LineFault, type LineFaultCode, lineFault } from "./fault.ts";
import { type Header, HeaderCodec, type Recorded, currentFormat, recordedOf } from "./format.ts";

/** A line that was never finished. */
export interface Torn {
  readonly type: "torn";
  readonly line: number;
  readonly text: string;
}

/** How far a log has been read. */
export interface Reading {
  readonly header: Header | undefined;
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

export interface Fed {
  readonly reading: Reading;
  readonly events: readonly Recorded[];
}

export const beginReading: Reading = {
  header: undefined,
  lines: 0,
  seq: 0,
  epoch: 0,
  rest: "",
  torn: undefined,
  fault: undefined,
};

/** Whether the text may be the beginning of a record: it ends inside a string, or with something open. */
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

/** What is newer is refused before anything else is looked at: it may have another form. */
const newerThanKnown = (json: Json, line: number): LineFault | undefined => {
  const { format, protocol } = (typeof json === "object" && json !== null ? json : {}) as Partial<Header>;
  const newer = (what: "format" | "protocol", found: number, known: number): LineFault =>
    lineFault(`newer_${what}`, `this core knows ${what} ${known}, found ${found}: update it first`, { line });
  if (typeof format === "number" && format > currentFormat) return newer("format", format, currentFormat);
  if (typeof protocol === "number" && protocol > currentProtocol) return newer("protocol", protocol, currentProtocol);
  return undefined;
};

const headerOf = (json: Json, line: number): E.Either<LineFault, Header> => {
  const newer = newerThanKnown(json, line);
  if (newer !== undefined) return E.left(newer);
  const header = read(HeaderCodec, json);
  if (E.isLeft(header)) {
    const { message, path } = header.left;
    return E.left(lineFault("header_invalid", message, { line, path }));
  }
  const { format, protocol } = header.right;
  if (format > 0 && protocol > 0) return header;
  return E.left(lineFault("header_invalid", "expected a format and a protocol from 1, found 0", { line }));
};

/** Who is handed what is read, line by line; a fault of theirs ends the reading like one of its own. */
export interface Sink {
  readonly onHeader: (header: Header, line: number) => Fault | undefined;
  readonly onEvent: (recorded: Recorded, line: number) => Fault | undefined;
}

/** The reading while text is worked in. */
export class Reader {
  readonly #sink: Sink;
  #header: Header | undefined;
  #lines: number;
  #seq: number;
  #epoch: number;
  #rest: string;
  #torn: Reading["torn"];
  #fault: Fault | undefined;

  constructor(from: Reading, sink: Sink) {
    this.#sink = sink;
    this.#header = from.header;
    this.#lines = from.lines;
    this.#seq = from.seq;
    this.#epoch = from.epoch;
    this.#rest = from.rest;
    this.#torn = from.torn;
    this.#fault = from.fault;
  }

  take(chunk: string): void {
    let start = 0;
    for (let end = chunk.indexOf("\n"); end !== -1 && this.#isGoingOn(); end = chunk.indexOf("\n", start)) {
      const text = this.#rest + chunk.slice(start, end);
      this.#rest = "";
      start = end + 1;
      this.#line(text);
    }
    if (start < chunk.length && this.#isGoingOn()) this.#rest += chunk.slice(start);
  }

  get isOver(): boolean {
    return this.#fault !== undefined;
  }

  finish(): Reading {
    return {
      header: this.#header,
      lines: this.#lines,
      seq: this.#seq,
      epoch: this.#epoch,
      rest: this.#rest,
      torn: this.#torn,
      fault: this.#fault,
    };
  }

  /** What was torn is corrupt as soon as something follows it. */
  #isGoingOn(): boolean {
    this.#fault ??= this.#torn?.fault;
    return this.#fault === undefined;
  }

  #line(text: string): void {
    this.#lines += 1;
    const json = parse(text, noLimits);
    if (E.isLeft(json)) this.#unreadable(text, json.left.message);
    else if (this.#header === undefined) this.#begin(json.right);
    else this.#record(json.right);
  }

  #unreadable(text: string, message: string): void {
    const line = this.#lines;
    const fault = lineFault("line_corrupt", message, { line });
    if (isCut(text)) this.#torn = { torn: { type: "torn", line, text }, fault };
    else this.#fault = fault;
  }

  #begin(json: Json): void {
    const header = headerOf(json, this.#lines);
    if (E.isLeft(header)) {
      this.#fault = header.left;
      return;
    }
    this.#header = header.right;
    this.#seq = header.right.base;
    this.#epoch = header.right.epoch;
    this.#fault = this.#sink.onHeader(header.right, this.#lines);
  }

  #record(json: Json): void {
    const recorded = recordedOf(json);
    if (E.isLeft(recorded)) {
      const { message, path } = recorded.left;
      this.#fault = lineFault("record_invalid", message, { line: this.#lines, path });
      return;
    }
    const { seq, epoch } = recorded.right;
    if (seq !== this.#seq + 1) this.#refuse("sequence_gap", `expected sequence ${this.#seq + 1}, found ${seq}`, seq);
    else if (epoch < this.#epoch) {
      this.#refuse("epoch_went_back", `expected an epoch from ${this.#epoch}, found ${epoch}`, seq);
    } else {
      this.#seq = seq;
      this.#epoch = epoch;
      this.#fault = this.#sink.onEvent(recorded.right, this.#lines);
    }
  }

  #refuse(code: LineFaultCode, message: string, seq: number): void {
    this.#fault = lineFault(code, message, { line: this.#lines, seq });
  }
}

/** Reads on. */
export const feed = (reading: Reading, chunk: string): Fed => {
  const events: Recorded[] = [];
  const reader = new Reader(reading, {
    onHeader: () => undefined,
    onEvent: (recorded) => {
      events.push(recorded);
      return undefined;
    },
  });
  reader.take(chunk);
  return { reading: reader.finish(), events };
};

/** How a log ends that has no more text: with a whole line, with a torn one, or with what is wrong with it. */
export const endReading = ({ header, lines, rest, torn, fault }: Reading): Torn | Fault | undefined => {
  if (fault !== undefined) return fault;
  if (torn !== undefined) return torn.torn;
  if (rest !== "") return { type: "torn", line: lines + 1, text: rest };
  return header === undefined ? lineFault("log_empty", "expected a header, found nothing", { line: 1 }) : undefined;
};
