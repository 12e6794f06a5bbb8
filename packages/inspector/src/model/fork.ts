/** A fork: a log that goes as another one went, up to an event that may be another; and runs on from there. */
import {
  type Event,
  EventCodec,
  type Finished,
  type Header,
  type Recorded,
  type Rejection,
  type State,
  headerLine,
  initial,
  write,
} from "@pawl/sansio-core";
import { type Json, type ValueError, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Recording } from "./recording.ts";

export interface ForkedLine {
  readonly seq: number;
  readonly line: string;
  readonly finished: readonly Finished[];
}

export interface Fork {
  /** The last event that it has from the original, or in its place. */
  readonly at: number;
  readonly state: State;
  readonly header: Header;
  readonly lines: readonly ForkedLine[];
}

export interface ForkError {
  readonly code: "not_whole" | "not_known" | "invalid_event" | Rejection["code"];
  readonly message: string;
}

const refuse = (code: ForkError["code"], message: string): E.Either<ForkError, never> => E.left({ code, message });

/** An event as it is recorded, in the place of one that it may have been edited from. */
const lineAfter = (
  recording: Recording,
  original: Recorded,
  written: { readonly line: string; readonly state: State },
): string => {
  const isTheSame = written.line.endsWith(`,"cmds":"${original.cmds}"}\n`) && written.state.seq === original.seq;
  return isTheSame && written.state.scope.epoch === original.epoch
    ? `${recording.lineAt(original.seq)}\n`
    : written.line;
};

const editedEvent = (edited: Json): E.Either<ForkError, Event> =>
  E.mapLeft((error: ValueError): ForkError => ({ code: "invalid_event", message: describe(error) }))(
    read<Event>(EventCodec, edited),
  );

/** The events up to one of them, which may be edited; what was not keeps its line. */
export const forkAt = (recording: Recording, seq: number, edited?: Json): E.Either<ForkError, Fork> => {
  const { header, base, trusted } = recording;
  if (header === undefined || base > 0) return refuse("not_whole", "only a log that is whole can be forked");
  if (seq < 1 || seq > trusted) return refuse("not_known", `events 1 to ${trusted} can be forked from, found ${seq}`);
  const changed = edited === undefined ? undefined : editedEvent(edited);
  if (changed !== undefined && E.isLeft(changed)) return changed;
  let state = initial(header.scope);
  const lines: ForkedLine[] = [];
  for (const recorded of recording.events(1, seq)) {
    const isEdited = recorded.seq === seq && changed !== undefined;
    const written = write(state, isEdited ? { ...recorded, event: changed.right } : recorded);
    if (E.isLeft(written)) return refuse(written.left.code, `event ${recorded.seq}: ${written.left.message}`);
    const line = isEdited ? written.right.line : lineAfter(recording, recorded, written.right);
    state = written.right.state;
    lines.push({ seq: recorded.seq, line, finished: written.right.finished });
  }
  return E.right({ at: seq, state, header, lines });
};

/** Writes a fork as a log of its own. */
export const textOfFork = ({ header, lines }: Fork): string =>
  [headerLine(header), ...lines.map(({ line }) => line)].join("");

/** A log that ran on, and what of the original did not fit it any more. */
export interface RanOn {
  readonly text: string;
  readonly left: readonly number[];
}

/** The world says again what it said the first time, as far as that still fits. */
export const runOnAsRecorded = (fork: Fork, recording: Recording): RanOn => {
  const text: string[] = [textOfFork(fork)];
  const left: number[] = [];
  let { state } = fork;
  for (const original of recording.events(fork.at + 1, recording.trusted)) {
    const written = write(state, { ...original, seq: state.seq + 1 });
    if (E.isLeft(written)) left.push(original.seq);
    else {
      state = written.right.state;
      text.push(lineAfter(recording, original, written.right));
    }
  }
  return { text: text.join(""), left };
};
