/**
 * Messages between scopes as they lie in inboxes (outbox pattern: a message goes out with the append of the event that
 * sends it). A message is stored as the event that it will be at its receiver, an answer as the one that it will be at
 * the sender. A third kind asks for a message again, and says what was heard by now.
 */
import { type Command, type EventOf, EventCodec } from "@pawl/sansio-core";
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

interface About {
  readonly to: string;
  readonly link: number;
  readonly number: number;
  /** The protocol of the scope that says it. */
  readonly protocol?: number;
}

const wantedText = '"wanted"';

export const messageSent = (from: string, { to, link, number, heard, message, protocol }: Sending): OutboxMessage => {
  const said = protocol === undefined ? {} : { protocol };
  const event: Received = { type: "message.received", from, link, number, heard, message, ...said };
  return { to, kind: "message", link, number, text: stringifyRecord(EventCodec.encode(event)) };
};

export const answerSent = (from: string, { to, link, number, protocol }: About, outcome: Outcome): OutboxMessage => {
  const said = protocol === undefined ? {} : { protocol };
  const event: Answered = { type: "message.answered", to: from, link, number, outcome, ...said };
  return { to, kind: "answer", link, number, text: stringifyRecord(EventCodec.encode(event)) };
};

/** Asks for a message again: its receiver had no room for it until it knew that more of its answers were heard. */
export const answerWanted = ({ to, link, number }: About): OutboxMessage => ({
  to,
  kind: "answer",
  link,
  number,
  text: wantedText,
});

/** Returns the message that a command sends, if it sends one. It goes out with the append of its event. */
export const outboxMessageOf = (from: string, command: Command): OutboxMessage | undefined => {
  if (command.type === "send") return messageSent(from, command);
  return command.type === "message.answer" ? answerSent(from, command, command.outcome) : undefined;
};

const nameOf = ({ kind, from, link, number }: InboxMessage): string => `${kind} ${number} of link ${link} with ${from}`;

const problem = (message: InboxMessage, why: string): E.Either<string, never> =>
  E.left(`${nameOf(message)} cannot be read: ${why}`);

const ifSame = <A extends Received | Answered>(message: InboxMessage, found: A, peer: string): E.Either<string, A> =>
  peer === message.from && found.link === message.link && found.number === message.number
    ? E.right(found)
    : problem(message, `it is of message ${found.number} of link ${found.link} with ${peer}`);

export const contentOf = (message: InboxMessage): E.Either<string, Received | Answered | Wanted> => {
  const { kind, from: to, link, number, text } = message;
  if (kind === "answer" && text === wantedText) return E.right({ type: "message.wanted", to, link, number });
  const event = readText(text, (json) => read(EventCodec, json));
  if (E.isLeft(event)) return problem(message, describe(event.left));
  const found = event.right;
  if (found.type === "message.received" && kind === "message") return ifSame(message, found, found.from);
  if (found.type === "message.answered" && kind === "answer") return ifSame(message, found, found.to);
  return problem(message, `it is ${found.type}`);
};
