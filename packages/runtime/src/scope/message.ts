/**
 * What scopes say to each other, as it lies in inboxes: a message as the event that it will be at its receiver, an
 * answer as the one that it will be at the sender; or the wish to be sent a message again, with what was heard by now.
 */
import { type Command, EventCodec, type EventOf } from "@pawl/sansio-core";
import type { Outcome, Sending } from "@pawl/sansio-core/driver";
import { describe, read, stringifyRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { InboxMessage, OutboxMessage } from "../journal/journal.ts";
import { readText } from "../encoding.ts";

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

export const messageSent = (from: string, { to, link, number, heard, message }: Sending): OutboxMessage => {
  const event: Received = { type: "message.received", from, link, number, heard, message };
  return { to, kind: "message", link, number, text: stringifyRecord(EventCodec.encode(event)) };
};

export const answerSent = (from: string, { to, link, number }: About, outcome: Outcome): OutboxMessage => {
  const event: Answered = { type: "message.answered", to: from, link, number, outcome };
  return { to, kind: "answer", link, number, text: stringifyRecord(EventCodec.encode(event)) };
};

/** Its receiver has no room for a message until it knows that more of its answers were heard. */
export const answerWanted = ({ to, link, number }: About): OutboxMessage => ({
  to,
  kind: "answer",
  link,
  number,
  text: wantedText,
});

/** The letter that goes out with the event that a command follows from. */
export const outboxMessageOf = (from: string, command: Command): OutboxMessage | undefined => {
  if (command.type === "send") return messageSent(from, command);
  return command.type === "message.answer" ? answerSent(from, command, command.outcome) : undefined;
};

const nameOf = ({ kind, from, link, number }: InboxMessage): string => `${kind} ${number} of link ${link} with ${from}`;

const problem = (letter: InboxMessage, why: string): E.Either<string, never> =>
  E.left(`the letter ${nameOf(letter)} can not be read: ${why}`);

const ifSame = <A extends Received | Answered>(letter: InboxMessage, found: A, peer: string): E.Either<string, A> =>
  peer === letter.from && found.link === letter.link && found.number === letter.number
    ? E.right(found)
    : problem(letter, `it is of message ${found.number} of link ${found.link} with ${peer}`);

/** A letter as it is to be told, or what is wrong with it. */
export const contentOf = (letter: InboxMessage): E.Either<string, Received | Answered | Wanted> => {
  const { kind, from: to, link, number, text } = letter;
  if (kind === "answer" && text === wantedText) return E.right({ type: "message.wanted", to, link, number });
  const event = readText(text, (json) => read(EventCodec, json));
  if (E.isLeft(event)) return problem(letter, describe(event.left));
  const found = event.right;
  if (found.type === "message.received" && kind === "message") return ifSame(letter, found, found.from);
  if (found.type === "message.answered" && kind === "answer") return ifSame(letter, found, found.to);
  return problem(letter, `it is ${found.type}`);
};
