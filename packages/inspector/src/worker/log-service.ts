/** Processes logs piece by piece, so that questions in between are answered first. Runs in any thread. */
import { nextDeadline } from "@pawl/sansio-core";
import type { PackedBlob } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { firstDifference } from "../model/compare.ts";
import { type Fork, continueAsRecorded, forkAt } from "../model/fork.ts";
import { Recording } from "../model/recording.ts";
import type { AnswerTo, Forked, FromWorker, LogUpdate, Question, QuestionType, Side, ToWorker } from "./message.ts";

/** The number of characters that are processed without a break. */
const pieceSize = 1 << 16;
/** The shortest time between two updates while a log is processed. */
const updateMs = 80;

/** A log with its text that is not processed yet. */
interface OpenLog {
  recording: Recording;
  waiting: string[];
  hasEnd: boolean;
  /** The number of entries that the page has. */
  sent: number;
}
const newLog = (forkedAt?: number): OpenLog => ({
  recording: new Recording(forkedAt),
  waiting: [],
  hasEnd: false,
  sent: 0,
});

const forkedLog = ({ at, state, header, lines }: Fork, blobs: readonly PackedBlob[]): Forked => {
  const { id: scope, epoch, protocol } = state.scope;
  const wakeAt = nextDeadline(state)?.at;
  return { type: "forked", log: { scope, epoch, protocol, at, wakeAt, header, lines, blobs } };
};

export class LogService {
  readonly #send: (message: FromWorker) => void;
  readonly #nextTurn: (then: () => void) => void;
  readonly #logs: { [S in Side]: OpenLog } = { log: newLog(), fork: newLog() };
  #isWorking = false;
  #sentAt = -Infinity;

  constructor(send: (message: FromWorker) => void, nextTurn: (then: () => void) => void) {
    this.#send = send;
    this.#nextTurn = nextTurn;
  }

  receive(message: ToWorker): void {
    switch (message.type) {
      case "feed":
        return this.#feed(message.side, message.text);
      case "end":
        this.#logs[message.side].hasEnd = true;
        return this.#begin();
      case "clear":
        this.#logs[message.side] = newLog();
        return;
      case "ask":
        return this.#answer(message.id, message.question);
    }
  }

  #feed(side: Side, text: string): void {
    const { waiting } = this.#logs[side];
    for (let at = 0; at < text.length; at += pieceSize) waiting.push(text.slice(at, at + pieceSize));
    this.#begin();
  }

  #begin(): void {
    if (this.#isWorking) return;
    this.#isWorking = true;
    this.#nextTurn(() => this.#work());
  }

  #work(): void {
    const side = (["log", "fork"] as const).find((one) => this.#hasWork(this.#logs[one]));
    this.#isWorking = side !== undefined;
    if (side === undefined) return;
    const log = this.#logs[side];
    const text = log.waiting.shift();
    if (text === undefined) {
      log.hasEnd = false;
      log.recording.end();
    } else log.recording.feed(text);
    if (!this.#hasWork(log) || performance.now() - this.#sentAt > updateMs) {
      this.#send({ type: "update", side, update: this.#updateOf(side) });
      this.#sentAt = performance.now();
    }
    this.#nextTurn(() => this.#work());
  }

  #hasWork({ waiting, hasEnd }: OpenLog): boolean {
    return waiting.length > 0 || hasEnd;
  }

  #updateOf(side: Side): LogUpdate {
    const log = this.#logs[side];
    const { header, entries, lanes, last, trusted, problem } = log.recording;
    const newEntries = entries.slice(log.sent);
    log.sent = entries.length;
    const difference = side === "fork" ? firstDifference(this.#logs.log.recording, log.recording) : undefined;
    return {
      ...lanes.takeUpdate(),
      header,
      entries: newEntries,
      last,
      trusted,
      problem,
      isDone: !this.#hasWork(log),
      ...(difference !== undefined && { difference }),
    };
  }

  #answer(id: number, question: Question): void {
    try {
      this.#send({ type: "answer", id, answer: this.#answerTo(question) });
    } catch (thrown) {
      this.#send({ type: "failed", id, message: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  }

  #answerTo(question: Question): AnswerTo<QuestionType> {
    switch (question.type) {
      case "moment":
        return this.#logs[question.side].recording.momentAt(question.seq);
      case "search":
        return this.#logs.log.recording.search(question.query);
      case "fork":
        return this.#fork(question);
      case "missing": {
        const { size, missing } = this.#logs[question.side].recording;
        return { lines: size, missing };
      }
      case "text": {
        const { recording } = this.#logs[question.side];
        return recording.textOf(question.lines ?? recording.size, question.blobs ?? []);
      }
    }
  }

  #fork({ seq, edited, fromRecord }: Extract<Question, { readonly type: "fork" }>): Forked {
    const { recording } = this.#logs.log;
    const fork = forkAt(recording, seq, edited);
    if (E.isLeft(fork)) return { type: "refused", ...fork.left };
    this.#logs.fork = newLog(fromRecord ? undefined : seq);
    if (!fromRecord) return forkedLog(fork.right, recording.contained);
    const { text, left } = continueAsRecorded(fork.right, recording);
    this.#feed("fork", text);
    return { type: "continued", left };
  }
}
