/**
 * Readers of a turn: from a place on, the answers of its model calls, one after the other, until the turn is over. An answer
 * that is over is read from the log; the one that is under way from memory, also what is not on record yet.
 *
 * A reader takes what it wants when it wants it: it holds a place, and is given all that it lacks as one. So one that is slow
 * keeps nobody waiting, and costs nothing for each word.
 */
import type { State } from "@pawl/sansio-core";
import { type AnswerPart, type Entry, assemble, piecesIn, seqsOf, turnCodecs } from "@pawl/sansio-core/driver";
import { type Codec, oneOf, optional, tagged, text, u64 } from "@pawl/tool-value";
import { Refused } from "../error.ts";
import type { Access } from "../scope/access.ts";
import type { Changes } from "../stream/tail.ts";
import { type AnswerCursor, type AnswerFrame, AnswerStream } from "./answer-stream.ts";
import type { PromptEvents } from "./prompt-of.ts";

/** A place in a turn: all that was said before it, of the answer of model call `n`. */
export interface TurnCursor extends AnswerCursor {
  readonly n: number;
}

/** News of a turn for a reader. Each says the model call, and the attempt at it. */
export type TurnFrame =
  | ({ readonly type: "text"; readonly text: string; readonly of?: "reasoning" } & TurnCursor)
  /** A part that came whole: a call, say. It counts as one unit. */
  | ({ readonly type: "part"; readonly part: AnswerPart } & TurnCursor)
  /** Another attempt has begun: of this answer drop all units from `keep` on. */
  | { readonly type: "reset"; readonly n: number; readonly attempt: number; readonly keep: number }
  /** The answer is on record, and ends here. */
  | ({ readonly type: "answered" } & TurnCursor)
  /** The answer was stopped here. */
  | ({ readonly type: "cut" } & TurnCursor);

const place = { n: u64, attempt: u64, at: u64 };

/** Decodes and encodes the frames of a turn, as the wire carries them. */
export const TurnFrame: Codec<TurnFrame> = tagged<TurnFrame, "type">("a frame of a turn", "type", {
  text: { ...place, text, of: optional<"reasoning">(oneOf("reasoning", "reasoning")) },
  part: { ...place, part: turnCodecs.part },
  reset: { n: u64, attempt: u64, keep: u64 },
  answered: place,
  cut: place,
});

export interface ReadTurnOptions {
  /** The place that the reader has. Without it: the beginning of the answer that is under way, or that comes next. */
  readonly from?: TurnCursor;
  readonly signal?: AbortSignal;
}

/** Returns the place of a reader that was told this. */
export const turnCursorAfter = (frame: TurnFrame): TurnCursor => {
  const { n, attempt } = frame;
  switch (frame.type) {
    case "text":
      return { n, attempt, at: frame.at + frame.text.length };
    case "part":
      return { n, attempt, at: frame.at + 1 };
    case "reset":
      return { n, attempt, at: frame.keep };
    case "answered":
    case "cut":
      return { n: n + 1, attempt: 1, at: 0 };
  }
};

const frameOf = (n: number, frame: AnswerFrame): TurnFrame => {
  if ("delta" in frame) {
    const { delta } = frame;
    return "part" in delta ? { type: "part", n, ...delta } : { type: "text", n, ...delta };
  }
  if ("reset" in frame) return { type: "reset", n, ...frame.reset };
  return "answered" in frame ? { type: "answered", n, ...frame.answered } : { type: "cut", n, ...frame.cut };
};

/** An answer in memory. */
export interface LiveAnswer {
  readonly request: string;
  readonly n: number;
  readonly stream: AnswerStream;
}

/** The turns of a scope, as a reader finds them. */
export interface TurnSource {
  readonly access: Access;
  readonly events: PromptEvents;
  readonly changes: Changes;
  /** The answer of a turn that is under way, or was last. Throws where the scope is lost. */
  readonly live: (request: string) => LiveAnswer | undefined;
}

/** Says if a turn has its end. One that nobody has submitted yet has none. */
const isOver = async ({ access }: TurnSource, request: string): Promise<boolean> => {
  const row = access.runner.durable.requests.at(request);
  if (row !== undefined) return row.phase === "replying";
  return (await access.finished.find("request", request)) !== undefined;
};

/** Returns the model call that a turn is at, or comes to next. */
const nextCall = ({ conversation: { running } }: State, request: string): number => {
  if (running?.request !== request) return 1;
  return "call" in running.phase && running.phase.call !== undefined ? running.phase.call.n : running.n + 1;
};

class Reader {
  readonly #source: TurnSource;
  readonly #request: string;
  #n: number;
  #of: AnswerCursor | undefined;

  constructor(source: TurnSource, request: string, from: TurnCursor | undefined) {
    this.#source = source;
    this.#request = request;
    this.#n = from?.n ?? nextCall(source.access.runner.state, request);
    this.#of = from;
  }

  /** Takes all that the reader lacks by now. */
  async take(): Promise<readonly TurnFrame[]> {
    const live = this.#source.live(this.#request);
    if (live?.n === this.#n) return this.#read(live.stream);
    const past = await this.#past();
    if (past !== undefined) {
      this.#goTo(past.n);
      return this.#read(past.stream);
    }
    if (live === undefined || live.n < this.#n) return [];
    this.#goTo(live.n); // The calls between them had no answers.
    return this.#read(live.stream);
  }

  #goTo(n: number): void {
    if (n === this.#n) return;
    this.#n = n;
    this.#of = undefined;
  }

  #read(stream: AnswerStream): readonly TurnFrame[] {
    const frames: TurnFrame[] = [];
    const stop = stream.read((frame) => frames.push(frameOf(this.#n, frame)), this.#of);
    if (stop === undefined) throw aheadOf(this.#request, stream.place, this.#of);
    stop();
    const last = frames.at(-1);
    if (last === undefined) return frames;
    const { n, ...of } = turnCursorAfter(last);
    this.#of = n === this.#n ? of : undefined;
    this.#n = n;
    return frames;
  }

  /** Reads the next answer that is on record, from where the reader is. */
  async #past(): Promise<{ readonly n: number; readonly stream: AnswerStream } | undefined> {
    const { access, events } = this.#source;
    const found = answersIn(access.runner.durable, this.#request);
    const read = await events.reading(found.flatMap(seqsOf));
    for (const entry of found) {
      const event = read(entry.seq);
      if (!("request" in event && "n" in event && "attempt" in event)) continue;
      if (event.request !== this.#request || event.n < this.#n) continue;
      return { n: event.n, stream: streamOf(entry, event.attempt, read) };
    }
    return undefined;
  }
}

type AnswerEntry = Extract<Entry, { readonly type: "answer" | "cut" }>;

/** Lists the answers of frames that may be a turn's: those since it was submitted, where the state says when that was. */
const answersIn = ({ conversation: { frames }, requests }: State, request: string): readonly AnswerEntry[] => {
  const born = requests.at(request)?.born ?? 0;
  return [...frames.values()]
    .flatMap(({ entries }) => entries)
    .filter((entry): entry is AnswerEntry => (entry.type === "answer" || entry.type === "cut") && entry.seq > born)
    .toSorted((a, b) => a.seq - b.seq);
};

/** Says an answer of the log once more. */
const streamOf = (
  { type, seq, prefix = [], streamed = [] }: AnswerEntry,
  attempt: number,
  read: Awaited<ReturnType<PromptEvents["reading"]>>,
): AnswerStream => {
  const stream = new AnswerStream({ checkpointChars: Infinity, checkpointMs: Infinity });
  const kept = prefix.flatMap((one) => assemble(piecesIn(read(one))));
  stream.begin(attempt, kept.map((part) => (part.type === "text" ? part.text : "")).join(""));
  for (const one of [...streamed, seq]) for (const piece of piecesIn(read(one))) stream.say(piece, 0);
  stream.end(type === "cut" ? "cut" : "answered");
  return stream;
};

const placeWords = ({ attempt, at }: AnswerCursor): string => `unit ${at} of attempt ${attempt}`;

const aheadOf = (request: string, is: AnswerCursor, cursor: AnswerCursor | undefined): Refused =>
  new Refused(
    "cursor_ahead",
    `turn \`${request}\` is at ${placeWords(is)}, the cursor at ${cursor === undefined ? "its beginning" : placeWords(cursor)}`,
  );

/** Reads a turn from a place on, until it is over or the signal aborts. A turn that nobody has submitted yet is waited for. */
export async function* readTurn(
  source: TurnSource,
  request: string,
  { from, signal = new AbortController().signal }: ReadTurnOptions,
): AsyncGenerator<TurnFrame> {
  const { changes } = source;
  const reader = new Reader(source, request, from);
  const wake = (): void => changes.changed();
  signal.addEventListener("abort", wake);
  try {
    while (!signal.aborted) {
      const { version } = changes;
      const isLast = await isOver(source, request);
      const frames = await reader.take();
      yield* frames;
      if (frames.length > 0) continue;
      if (isLast) return;
      await changes.since(version);
    }
  } finally {
    signal.removeEventListener("abort", wake);
  }
}
