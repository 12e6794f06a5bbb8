/**
 * The digest of what an event produced: 64 bits over its commands, in their order, and over the next deadline. It
 * stands beside the event in the log, so that replay finds the first event where today's code acts otherwise.
 *
 * It tells commands apart by what they are and whom they are for, never by the values they carry: those stand in the
 * events. Its form belongs to the protocol, and is frozen with it: fields, their order, the numbers and constants
 * below. Another form is another protocol's, and stands beside this one. It is no hash against forgery: the chain is.
 */
import type { Replies } from "../request/model.ts";
import type { CommandOf } from "./vocabulary.ts";

const absent = -1;
const pairs: readonly string[] = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"));
const pair = (word: number, shift: number): string => pairs[(word >>> shift) & 0xff] as string;
const hex = (word: number): string => pair(word, 24) + pair(word, 16) + (pair(word, 8) + pair(word, 0));

/** The word that eight digits stand for; NaN, which is no word, where they are no digits. */
const wordAt = (digits: string, from: number): number => {
  let word = 0;
  let beyond = 0;
  for (let i = from; i < from + 8; i++) {
    const unit = digits.charCodeAt(i);
    const digit = unit < 0x3a ? unit - 0x30 : unit - 0x57;
    word = (word << 4) | digit;
    beyond |= digit & ~0xf;
  }
  return beyond === 0 ? word : NaN;
};

const avalanche = (word: number): number => {
  const x = Math.imul(word ^ (word >>> 16), 0x85eb_ca6b);
  const y = Math.imul(x ^ (x >>> 13), 0xc2b2_ae35);
  return y ^ (y >>> 16);
};

/** Two lanes of 32 bits. A word changes each of them one to one, so that what differs in one word stays apart. */
export class Lanes {
  #a: number;
  #b: number;

  constructor(protocol: number) {
    this.#a = 0x243f_6a88 ^ protocol;
    this.#b = 0x85a3_08d3 ^ protocol;
  }

  word(word: number): this {
    const a = Math.imul(this.#a ^ word, 0x9e37_79b1);
    const b = Math.imul(this.#b ^ word, 0x85eb_ca77);
    this.#a = a ^ (a >>> 15);
    this.#b = b ^ (b >>> 13);
    return this;
  }

  number(n: number): this {
    return this.word(n | 0).word((n / 0x1_0000_0000) | 0);
  }

  /** Its length, then two units a word. */
  text(text: string): this {
    const { length } = text;
    const even = length & ~1;
    this.word(length);
    for (let i = 0; i < even; i += 2) this.word(text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16));
    return even === length ? this : this.word(text.charCodeAt(even));
  }

  optional(text: string | undefined): this {
    return text === undefined ? this.word(absent) : this.text(text);
  }

  texts(texts: readonly string[]): this {
    this.word(texts.length);
    for (const text of texts) this.text(text);
    return this;
  }

  run({ call, attempt, run }: { readonly call: string; readonly attempt: number; readonly run: number }): this {
    return this.text(call).number(attempt).number(run);
  }

  /** Writes outcomes, and the number of triggers, which are values. */
  replies({ replies, triggers }: Replies): this {
    this.word(replies.length).word(triggers.length);
    for (const { call_id, output } of replies) this.text(call_id).text(output.outcome.status);
    return this;
  }

  /** Writes what is observed of a call; the cause and the crash are later protocols'. */
  observed({ what, call, tool, call_id, cause, crash, decided }: CommandOf<"observe">): this {
    this.text(what).text(call).text(tool).text(call_id);
    if (decided !== undefined) this.text(decided.decision).text(decided.by);
    if (cause !== undefined) this.text(cause);
    return crash === undefined ? this : this.number(crash.count).optional(crash.step);
  }

  get high(): number {
    return avalanche(this.#a ^ Math.imul(this.#b, 0xc2b2_ae3d));
  }
  get low(): number {
    return avalanche(this.#b ^ Math.imul(this.high, 0x27d4_eb2f));
  }

  /** Writes that something is absent. */
  absent(): this {
    return this.word(absent);
  }

  /** Returns the digest: 16 hexadecimal digits. */
  digits(): string {
    return hex(this.high) + hex(this.low);
  }

  /** Returns whether these digits are the digest, without making its text. */
  is(digits: string): boolean {
    return this.high === wordAt(digits, 0) && this.low === wordAt(digits, 8);
  }
}
