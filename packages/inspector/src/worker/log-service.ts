/** The work of a desk, in whatever thread it stands: logs are worked in piece by piece, and questions come first. */
import { type PackedBlob, nextDeadline } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { firstDifference } from "../model/compare.ts";
import { type Fork, forkAt, runOnAsRecorded } from "../model/fork.ts";
import { Recording } from "../model/recording.ts";
import type { AnswerTo, Forked, FromDesk, News, Question, QuestionType, Side, ToDesk } from "./message.ts";

/** So many characters are worked in between two looks at what else was asked. */
const pieceSize = 1 << 16;
/** While a log is worked in, its page is told no more often than this. */
const tellEveryMs = 80;

/** A log on the desk, with the text that is not worked in yet. */
interface Pile {
  recording: Recording;
  waiting: string[];
  hasEnd: boolean;
  told: number;
}
const newPile = (forkedAt?: number): Pile => ({
  recording: new Recording(forkedAt),
  waiting: [],
  hasEnd: false,
  told: 0,
});

const forkedLog = ({ at, state, header, lines }: Fork, blobs: readonly PackedBlob[]): Forked => {
  const { id: scope, epoch, protocol } = state.scope;
  const wakeAt = nextDeadline(state)?.at;
  return { type: "forked", log: { scope, epoch, protocol, at, wakeAt, header, lines, blobs } };
};

export class DeskWork {
  readonly #tell: (message: FromDesk) => void;
  readonly #nextTurn: (then: () => void) => void;
  readonly #piles: { [S in Side]: Pile } = { log: newPile(), fork: newPile() };
  #isWorking = false;
  #toldAt = -Infinity;

  constructor(tell: (message: FromDesk) => void, nextTurn: (then: () => void) => void) {
    this.#tell = tell;
    this.#nextTurn = nextTurn;
  }

  hear(message: ToDesk): void {
    switch (message.type) {
      case "feed":
        return this.#feed(message.side, message.text);
      case "end":
        this.#piles[message.side].hasEnd = true;
        return this.#begin();
      case "clear":
        this.#piles[message.side] = newPile();
        return;
      case "ask":
        return this.#answer(message.id, message.question);
    }
  }

  #feed(side: Side, text: string): void {
    const { waiting } = this.#piles[side];
    for (let at = 0; at < text.length; at += pieceSize) waiting.push(text.slice(at, at + pieceSize));
    this.#begin();
  }

  #begin(): void {
    if (this.#isWorking) return;
    this.#isWorking = true;
    this.#nextTurn(() => this.#work());
  }

  #work(): void {
    const side = (["log", "fork"] as const).find((one) => this.#hasWork(this.#piles[one]));
    this.#isWorking = side !== undefined;
    if (side === undefined) return;
    const pile = this.#piles[side];
    const text = pile.waiting.shift();
    if (text === undefined) {
      pile.hasEnd = false;
      pile.recording.end();
    } else pile.recording.feed(text);
    if (!this.#hasWork(pile) || performance.now() - this.#toldAt > tellEveryMs) {
      this.#tell({ type: "news", side, news: this.#newsOf(side) });
      this.#toldAt = performance.now();
    }
    this.#nextTurn(() => this.#work());
  }

  #hasWork({ waiting, hasEnd }: Pile): boolean {
    return waiting.length > 0 || hasEnd;
  }

  #newsOf(side: Side): News {
    const pile = this.#piles[side];
    const { header, entries, sheet, last, trusted, trouble } = pile.recording;
    const fresh = entries.slice(pile.told);
    pile.told = entries.length;
    const difference = side === "fork" ? firstDifference(this.#piles.log.recording, pile.recording) : undefined;
    return {
      ...sheet.takeNews(),
      header,
      entries: fresh,
      last,
      trusted,
      trouble,
      isDone: !this.#hasWork(pile),
      ...(difference !== undefined && { difference }),
    };
  }

  #answer(id: number, question: Question): void {
    try {
      this.#tell({ type: "answer", id, answer: this.#answerTo(question) });
    } catch (thrown) {
      this.#tell({ type: "failed", id, message: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  }

  #answerTo(question: Question): AnswerTo<QuestionType> {
    switch (question.type) {
      case "moment":
        return this.#piles[question.side].recording.momentAt(question.seq);
      case "search":
        return this.#piles.log.recording.search(question.query);
      case "fork":
        return this.#fork(question);
      case "absent": {
        const { size, absent } = this.#piles[question.side].recording;
        return { lines: size, absent };
      }
      case "text": {
        const { recording } = this.#piles[question.side];
        return recording.textOf(question.lines ?? recording.size, question.blobs ?? []);
      }
    }
  }

  #fork({ seq, edited, runOn }: Extract<Question, { readonly type: "fork" }>): Forked {
    const { recording } = this.#piles.log;
    const fork = forkAt(recording, seq, edited);
    if (E.isLeft(fork)) return { type: "refused", ...fork.left };
    this.#piles.fork = newPile(runOn ? undefined : seq);
    if (!runOn) return forkedLog(fork.right, recording.brought);
    const { text, left } = runOnAsRecorded(fork.right, recording);
    this.#feed("fork", text);
    return { type: "ran_on", left };
  }
}
