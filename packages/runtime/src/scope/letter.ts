/**
 * What scopes say to each other, as it lies in inboxes: a message as the event that it will be at its receiver, an
 * answer as the one that it will be at the sender; or the wish to be sent a message again, with what was heard by now.
 */
import { type Command, EventCodec, type EventOf } from "@pawl/sansio-core";
import type { Outcome, Sending } from "@pawl/sansio-core/driver";
import { describe, read, stringifyRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Letter, SentLetter } from "../journal/journal.ts";
import { readText } from "../read-text.ts";

export type Received = EventOf<"message.received">;
export type Answered = EventOf<"message.answered">;

export interface Wanted {
  readonly type: "message.wanted";
  readonly to: string;
  readonly link: number;
  readonly number: number;
}

/** What is said of one message of a link. */
interface About {
  readonly to: string;
  readonly link: number;
  readonly number: number;
}

const wantedText = '"wanted"';

export const messageLetter = (from: string, { to, link, number, heard, message }: Sending): SentLetter => {
  const event: Received = { type: "message.received", from, link, number, heard, message };
  return { to, kind: "message", link, number, text: stringifyRecord(EventCodec.encode(event)) };
};

export const answerLetter = (from: string, { to, link, number }: About, outcome: Outcome): SentLetter => {
  const event: Answered = { type: "message.answered", to: from, link, number, outcome };
  return { to, kind: "answer", link, number, text: stringifyRecord(EventCodec.encode(event)) };
};

/** Its receiver has no room for a message until it knows that more of its answers were heard. */
export const wantedLetter = ({ to, link, number }: About): SentLetter => ({
  to,
  kind: "answer",
  link,
  number,
  text: wantedText,
});

/** The letter that goes out with the event that a command follows from. */
export const letterOf = (from: string, command: Command): SentLetter | undefined => {
  if (command.type === "send") return messageLetter(from, command);
  return command.type === "message.answer" ? answerLetter(from, command, command.outcome) : undefined;
};

const nameOf = ({ kind, from, link, number }: Letter): string => `${kind} ${number} of link ${link} with ${from}`;

const misfit = (letter: Letter, why: string): E.Either<string, never> =>
  E.left(`the letter ${nameOf(letter)} can not be read: ${why}`);

const ifSame = <A extends Received | Answered>(letter: Letter, found: A, peer: string): E.Either<string, A> =>
  peer === letter.from && found.link === letter.link && found.number === letter.number
    ? E.right(found)
    : misfit(letter, `it is of message ${found.number} of link ${found.link} with ${peer}`);

/** A letter as it is to be told, or what is wrong with it. */
export const contentOf = (letter: Letter): E.Either<string, Received | Answered | Wanted> => {
  const { kind, from: to, link, number, text } = letter;
  if (kind === "answer" && text === wantedText) return E.right({ type: "message.wanted", to, link, number });
  const event = readText(text, (json) => read(EventCodec, json));
  if (E.isLeft(event)) return misfit(letter, describe(event.left));
  const found = event.right;
  if (found.type === "message.received" && kind === "message") return ifSame(letter, found, found.from);
  if (found.type === "message.answered" && kind === "answer") return ifSame(letter, found, found.to);
  return misfit(letter, `it is ${found.type}`);
};
