/**
 * The form of a log: JSON Lines, each line ended by a line feed. The first line is a header, then one event a line:
 *
 *   {"format":1,"protocol":1,"scope":"session:s","epoch":1,"writer":"pawl","base":0}
 *   {"seq":1,"epoch":1,"at":1763459854000,"event":{"type":"scope.opened",…},"cmds":"5a17e0c3b29d4f88"}
 *
 * `docs/log-format.md` says what each field means. The two events that a durable step leaves are most of a log: they are
 * written straight, their fields in the codec's order, and the second is read so.
 */
import {
  type Codec,
  type Json,
  type ValueError,
  json,
  quote,
  read,
  readOwned,
  record,
  string,
  stringify,
  stringifyRecord,
  u64,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Rejection } from "../kernel/error.ts";
import type { Envelope, Event, EventOf, State } from "../kernel/vocabulary.ts";
import { newestProtocol } from "../kernel/protocol.ts";
import { type LineFault, lineFault } from "./fault.ts";
import { type Transition, digest, EventCodec, step } from "../machine.ts";

// The text of an event, and back.
type OfRun = Pick<EventOf<"step.settled">, "call" | "attempt" | "run" | "key">;

const runText = ({ call, attempt, run, key }: OfRun): string =>
  `"call":${quote(call)},"attempt":${attempt},"run":${run},"key":${quote(key)}`;

const requestedText = (event: EventOf<"effect.requested">): string | undefined => {
  const { effect, hash } = event;
  if (effect.kind !== "step" || event.refused !== undefined || event.patched !== undefined) return undefined;
  if (effect.stream !== undefined) return undefined;
  const spec = `{"kind":"step","recovery":"${effect.recovery}","input":${stringify(effect.input)}}`;
  return `{"type":"effect.requested",${runText(event)},"hash":${quote(hash)},"effect":${spec}}`;
};

const settledText = (event: EventOf<"step.settled">): string | undefined => {
  const { result } = event;
  if (result.status !== "ok" || event.try !== undefined) return undefined;
  return `{"type":"step.settled",${runText(event)},"result":{"status":"ok","value":${stringify(result.value)}}}`;
};

const straight = (event: Event): string | undefined => {
  switch (event.type) {
    case "effect.requested":
      return requestedText(event);
    case "step.settled":
      return settledText(event);
    default:
      return undefined;
  }
};

export const eventText = (event: Event): string => straight(event) ?? stringifyRecord(EventCodec.encode(event));

type Fields = { readonly [field: string]: Json | undefined };

const fieldsOf = (u: Json | undefined): Fields => (typeof u === "object" && u !== null ? (u as Fields) : {});

/** Reads the end of a step straight, where it stands there as the writer writes it. */
const settledOf = (u: Json): EventOf<"step.settled"> | undefined => {
  const { type, call, attempt, run, key, result, try: number } = fieldsOf(u);
  const { status, value } = fieldsOf(result);
  if (type !== "step.settled" || status !== "ok" || value === undefined || number !== undefined) return undefined;
  if (!string.is(call) || !u64.is(attempt) || !u64.is(run) || !string.is(key)) return undefined;
  const owned = readOwned(json, value);
  if (E.isLeft(owned)) return undefined;
  const ok = { status: "ok", value: owned.right } as const;
  return { type: "step.settled", call, attempt: attempt + 0, run: run + 0, key, result: ok };
};

/** The event in JSON that a parser has just made, and that nobody else holds. */
export const eventOf = (u: Json): E.Either<ValueError, Event> => {
  const settled = settledOf(u);
  return settled === undefined ? readOwned(EventCodec, u) : E.right(settled);
};

/** Refuses newer formats before anything else is looked at: they may have another form. */
const newerThanKnown = (value: Json, line: number): LineFault | undefined => {
  const { format, protocol } = (typeof value === "object" && value !== null ? value : {}) as Partial<Header>;
  const newer = (what: "format" | "protocol", found: number, known: number): LineFault =>
    lineFault(`newer_${what}`, `this core knows ${what} ${known}, found ${found}: update it first`, { line });
  if (typeof format === "number" && format > currentFormat) return newer("format", format, currentFormat);
  if (typeof protocol === "number" && protocol > newestProtocol) return newer("protocol", protocol, newestProtocol);
  return undefined;
};

/** The header that a line holds, if this code may read on. */
export const headerOf = (value: Json, line: number): E.Either<LineFault, Header> => {
  const newer = newerThanKnown(value, line);
  if (newer !== undefined) return E.left(newer);
  const header = read(HeaderCodec, value);
  if (E.isLeft(header)) {
    const { message, path } = header.left;
    return E.left(lineFault("header_invalid", message, { line, path }));
  }
  const { format, protocol } = header.right;
  if (format > 0 && protocol > 0) return header;
  return E.left(lineFault("header_invalid", "expected a format and a protocol from 1, found 0", { line }));
};

/** The format that this code writes, and the newest that it reads. */
export const currentFormat = 1;

export interface Header {
  readonly format: number;
  /** The protocol of the scope when this log was begun; `scope.upgraded` raises it on the way. */
  readonly protocol: number;
  readonly scope: string;
  /** The epoch of the scope when this log was begun; no line is of an older one. */
  readonly epoch: number;
  /** Names the writer, for people. */
  readonly writer: string;
  /** The sequence that the log goes on from: 0, or that of the snapshot that retention left. */
  readonly base: number;
}

/** A recorded event: its envelope, the epoch of its writer, and the digest of what it produced. */
export interface Recorded extends Envelope {
  readonly epoch: number;
  readonly cmds: string;
}

/** Reads and writes the header of a log. */
export const HeaderCodec: Codec<Header> = record<Header>("a log header", {
  format: u64,
  protocol: u64,
  scope: string,
  epoch: u64,
  writer: string,
  base: u64,
});

/** Returns the header of a whole log that begins with this event, or has none. */
export const headerBefore = (scope: string, first?: Event): Header => {
  const protocol = first?.type === "scope.opened" ? first.protocol : 1;
  return { format: currentFormat, protocol, scope, epoch: 1, writer: "pawl", base: 0 };
};

/** Writes the header of a log. */
export const headerLine = (header: Header): string => `${stringifyRecord(HeaderCodec.encode(header))}\n`;

/** Writes an event as a line of a log. */
export const eventLine = ({ seq, epoch, at, event, cmds }: Recorded): string =>
  `{"seq":${seq},"epoch":${epoch},"at":${at},"event":${eventText(event)},"cmds":"${cmds}"}\n`;

const digits = 16;
const isCount = (u: unknown): u is number => Number.isSafeInteger(u) && (u as number) >= 0;
const isDigest = (u: unknown): u is string => typeof u === "string" && u.length === digits;

const invalid = (message: string, path: ValueError["path"]): E.Either<ValueError, never> =>
  E.left({ code: "invalid_record", path, message });

const wanted = (u: unknown, what: string, field: string): E.Either<ValueError, never> => {
  if (u === undefined) return invalid(`missing field \`${field}\``, []);
  return invalid(`expected ${what}, found ${typeof u === "string" ? JSON.stringify(u) : typeof u}`, [field]);
};

/** Decodes a line from its JSON. The envelope is checked by hand, since it is the same for every event. */
export const recordedOf = (line: Json): E.Either<ValueError, Recorded> => {
  if (typeof line !== "object" || line === null || Array.isArray(line)) return invalid("expected a record", []);
  const { seq, epoch, at, event, cmds } = line as { readonly [field: string]: Json };
  if (!isCount(seq)) return wanted(seq, "a sequence", "seq");
  if (!isCount(epoch)) return wanted(epoch, "an epoch", "epoch");
  if (!isCount(at)) return wanted(at, "a time in milliseconds", "at");
  if (!isDigest(cmds)) return wanted(cmds, `a digest of ${digits} digits`, "cmds");
  if (event === undefined) return wanted(event, "an event", "event");
  const decoded = eventOf(event);
  if (E.isRight(decoded)) return E.right({ seq, epoch, at: at + 0, event: decoded.right, cmds });
  const { code, message, path } = decoded.left;
  return E.left({ code, message, path: ["event", ...path] });
};

// Writing: a header, then a line for each event that the core accepts. A fold, like the step itself.
/** The line of an event, with what followed from it. It is of the epoch that the scope is in after it. */
export const lineOf = ({ seq, at, event }: Envelope, transition: Transition): string =>
  eventLine({ seq, epoch: transition.state.scope.epoch, at, event, cmds: digest(transition) });

export interface Written extends Transition {
  readonly line: string;
}

/** Steps, and writes the line to append. What is rejected is not appended. */
export const write = (state: State, envelope: Envelope): E.Either<Rejection, Written> => {
  const result = step(state, envelope);
  if (E.isLeft(result)) return result;
  const { right } = result;
  return E.right({
    state: right.state,
    commands: right.commands,
    finished: right.finished,
    line: lineOf(envelope, right),
  });
};
