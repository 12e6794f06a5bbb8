/** A fork: a copy of a log up to one event, which may be edited, and a new continuation after it. */
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
import { type Json, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Recording } from "./recording.ts";

export interface ForkedLine {
  readonly seq: number;
  readonly line: string;
  readonly finished: readonly Finished[];
}

export interface Fork {
  /** The last event that the fork shares with the original, or the edited one. */
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

/** Returns the original line if the event and its consequences are unchanged, and the new line otherwise. */
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

const editedEvent = (edited: Json): E.Either<ForkError, Event> => {
  const event = read<Event>(EventCodec, edited);
  return E.isLeft(event) ? refuse("invalid_event", describe(event.left)) : event;
};

/** Forks a log at an event, which may be edited. Unchanged events keep their lines. */
export const forkAt = (recording: Recording, seq: number, edited?: Json): E.Either<ForkError, Fork> => {
  const { header, base, trusted } = recording;
  if (header === undefined || base > 0) return refuse("not_whole", "only a complete log can be forked");
  if (seq < 1 || seq > trusted) return refuse("not_known", `expected an event from 1 to ${trusted}, found ${seq}`);
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

/** A fork with its continuation, and the events of the original that no longer fitted. */
export interface ContinuedFork {
  readonly text: string;
  readonly left: readonly number[];
}

/** Continues a fork with the events of the original, and leaves out the ones that no longer fit. */
export const continueAsRecorded = (fork: Fork, recording: Recording): ContinuedFork => {
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
