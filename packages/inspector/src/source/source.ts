/** Sources of logs: files and texts, and growing logs of a session, of a tab's journal, or of a host. */
import type { Session } from "@pawl/runtime";
import type { BlobReader } from "@pawl/runtime/driver";
import {
  type Event,
  EventCodec,
  type Recorded,
  type State,
  eventLine,
  headerLine,
  initial,
  write,
} from "@pawl/sansio-core";
import { headerBefore } from "@pawl/sansio-core/driver";
import { type Json, describe, readOwned } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

/** The text of a log in pieces, and the pieces to come while it grows. */
export interface Source {
  readonly name: string;
  readonly text: AsyncIterable<string>;
  /** Names the tools of its unfinished calls that are not here: these calls stand still. */
  readonly lacks?: readonly string[];
  /** Reads the large values that the log names, for a saved file. */
  readonly blobs?: BlobReader;
}

/** The size of a piece: the beginning of a long text shows before its end has been passed on. */
const pieceSize = 1 << 18;

async function* piecesOf(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += pieceSize) yield text.slice(at, at + pieceSize);
}

/** Opens a log from its text. */
export const textSource = (name: string, text: string): Source => ({ name, text: piecesOf(text) });

async function* decoded(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read())
    yield decoder.decode(read.value, { stream: true });
  yield decoder.decode();
}

/** Reads a file that was dropped or chosen. */
export const fileSource = (file: File): Source => ({ name: file.name, text: decoded(file.stream()) });

async function* linesOf(scope: string, recorded: AsyncIterable<Recorded>): AsyncGenerator<string> {
  let isBegun = false;
  for await (const one of recorded) {
    if (!isBegun) yield headerLine(headerBefore(scope, one.event));
    isBegun = true;
    yield eventLine(one);
  }
}

const recordedSource = (name: string, recorded: AsyncIterable<Recorded>, blobs: BlobReader | undefined): Source => ({
  name,
  text: linesOf(name, recorded),
  ...(blobs && { blobs }),
});

/** Reads a session of this thread, from its first event on, until the signal aborts. */
export const sessionSource = (session: Session, signal: AbortSignal): Source =>
  recordedSource(session.state.scope.id, session.follow(0, signal), session.blobs);

/** A tab over a journal, as `openTab` of the browser's driver returns it. It may write or watch. */
export interface Tab {
  readonly follow: (scope: string, after: number, signal: AbortSignal) => AsyncIterable<Recorded>;
  readonly journal: { readonly blobs?: BlobReader };
}

/**
 * Reads a scope of a tab's journal, whichever tab writes it. Ends when the signal aborts or the scope has moved away; after
 * its return it has to be opened again.
 */
export const tabSource = (tab: Tab, scope: string, signal: AbortSignal): Source =>
  recordedSource(scope, tab.follow(scope, 0, signal), tab.journal.blobs);

/** An event as a host sends it; the WebSocket client's `Observation` iterates over them. */
export interface Observed {
  readonly cursor: number;
  readonly at: number;
  /** As the log has it. */
  readonly event: Json;
}

const eventOf = (scope: string, cursor: number, json: Json): Event => {
  const event = readOwned(EventCodec, json);
  if (E.isLeft(event)) throw new Error(`event ${cursor} of ${scope} cannot be read: ${describe(event.left)}`);
  return event.right;
};

async function* observedLines(scope: string, observed: AsyncIterable<Observed>): AsyncGenerator<string> {
  let state: State = initial(scope);
  for await (const { cursor, at, event: json } of observed) {
    const event = eventOf(scope, cursor, json);
    if (state.seq === 0) yield headerLine(headerBefore(scope, event));
    const written = write(state, { seq: cursor, at, event });
    if (E.isLeft(written)) throw new Error(`event ${cursor} of ${scope} does not fit: ${written.left.message}`);
    state = written.right.state;
    yield written.right.line;
  }
}

/**
 * Reads a scope that a host observes, from its first event on. Digests are not sent, and are computed here. Large values
 * are not sent either: they stay with the host.
 */
export const observedSource = (scope: string, observed: AsyncIterable<Observed>): Source => ({
  name: scope,
  text: observedLines(scope, observed),
});
