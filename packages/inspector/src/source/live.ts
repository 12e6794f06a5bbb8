/** Logs that grow: of a session in this tab, and of one that a host observes for us. */
import type { BlobReader, Session } from "@pawl/runtime";
import {
  type Event,
  type Recorded,
  type State,
  currentFormat,
  currentProtocol,
  eventLine,
  headerLine,
  initial,
  write,
} from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import type { Source } from "./source.ts";

const headerOf = (scope: string): string =>
  headerLine({ format: currentFormat, protocol: currentProtocol, scope, epoch: 1, writer: "pawl", base: 0 });

async function* linesOf(scope: string, recorded: AsyncIterable<Recorded>): AsyncGenerator<string> {
  yield headerOf(scope);
  for await (const one of recorded) yield eventLine(one);
}

const recordedSource = (name: string, recorded: AsyncIterable<Recorded>, blobs: BlobReader | undefined): Source => ({
  name,
  text: linesOf(name, recorded),
  ...(blobs && { blobs }),
});

/** A session that lives in this thread, from its first event on, until the signal is aborted. */
export const sessionSource = (session: Session, signal: AbortSignal): Source =>
  recordedSource(session.state.scope.id, session.follow(0, signal), session.blobs);

/** A tab over a journal, as `openTab` of the browser's driver gives it; whether it writes or watches. */
export interface Tab {
  readonly follow: (scope: string, after: number, signal: AbortSignal) => AsyncIterable<Recorded>;
  readonly journal: { readonly blobs?: BlobReader };
}

/**
 * A scope of a tab's journal, from its first event on, whichever tab writes it, until the signal is aborted or the scope
 * has moved away: when it has come back it is opened anew.
 */
export const tabSource = (tab: Tab, scope: string, signal: AbortSignal): Source =>
  recordedSource(scope, tab.follow(scope, 0, signal), tab.journal.blobs);

/** An event as a host sends it: `Observation` of the WebSocket client is made of such. */
export interface Observed {
  readonly cursor: number;
  readonly at: number;
  readonly event: Event;
}

async function* observedLines(scope: string, observed: AsyncIterable<Observed>): AsyncGenerator<string> {
  yield headerOf(scope);
  let state: State = initial(scope);
  for await (const { cursor, at, event } of observed) {
    const written = write(state, { seq: cursor, at, event });
    if (E.isLeft(written)) throw new Error(`event ${cursor} of ${scope} does not fit: ${written.left.message}`);
    state = written.right.state;
    yield written.right.line;
  }
}

/**
 * A scope that a host observes for us, from its first event on; digests are made here, as they do not travel. Large
 * values do not travel either: they stay with the host.
 */
export const observedSource = (scope: string, observed: AsyncIterable<Observed>): Source => ({
  name: scope,
  text: observedLines(scope, observed),
});
