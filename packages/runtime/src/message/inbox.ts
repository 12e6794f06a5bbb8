/**
 * The inbox of a scope (the receiving end of the outbox pattern). Messages are delivered at least once and taken once: the
 * state knows the messages of open links, the finished index those of links that are over and of wakes. A repeated
 * message gets the answer that is on record. The append of what a message comes to also removes it from the inbox.
 *
 * A message goes out with the append of the event that sends it. It is stored as the event that it will be at its receiver, an
 * answer as the one that it will be at the sender. A third kind asks for a message again, and says what was heard by now.
 */
import {
  type Message,
  type Outcome,
  answerOf,
  finishedLink,
  sendingsOf,
  signalEventType,
  wakeKey,
  saidProtocol,
  takenBy,
  type Sending,
} from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import type { InboxMessage, Journal, OutboxMessage } from "../journal/journal.ts";
import { payloadMismatch } from "../tool/check.ts";
import type { ScopeAccess } from "../process/work.ts";
import { type Command, type EventOf, EventCodec } from "@pawl/sansio-core";
import { describe, read, stringifyRecord } from "@pawl/tool-value";
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

interface InboxPort {
  /** Takes a message; false if it has to stay in the inbox for now. */
  readonly take: (message: InboxMessage) => Promise<boolean>;
  readonly messages: () => ReturnType<Journal["inbox"]>;
  /** Resolves once all that was taken is durable, and so removed; rejects if the scope was lost. */
  readonly whenDurable: () => Promise<void>;
}

/** Takes the messages of a scope in the order of their arrival. */
export class Inbox {
  readonly #port: InboxPort;
  #looking: Promise<boolean> | undefined;
  #isAsked = false;

  constructor(port: InboxPort) {
    this.#port = port;
  }

  /** Takes all messages, also those that arrive meanwhile. Resolves with true if none is left. */
  look(): Promise<boolean> {
    this.#isAsked = true;
    this.#looking ??= this.#take();
    return this.#looking;
  }

  async #take(): Promise<boolean> {
    let left = 0;
    try {
      while (this.#isAsked) {
        this.#isAsked = false;
        left = 0;
        for (const message of await this.#port.messages()) if (!(await this.#port.take(message))) left += 1;
        await this.#port.whenDurable();
      }
      return left === 0;
    } finally {
      this.#looking = undefined; // In the same turn as the check: a later caller starts a new look.
    }
  }
}

/** Turns messages into events of the scope that receives them. */
export class Links {
  readonly #scope: ScopeAccess;
  readonly #answered: () => void;

  /** `answered` is called when a link may have room again. */
  constructor(scope: ScopeAccess, answered: () => void) {
    this.#scope = scope;
    this.#answered = answered;
  }

  /** Takes a message, with everything that follows from it, in one append; false if it has to be taken again later. */
  async take(message: InboxMessage): Promise<boolean> {
    const content = contentOf(message);
    if (E.isLeft(content)) {
      this.#scope.report(this.#scope.runner.id, new Error(content.left));
      return false;
    }
    if (!(await this.#isTaken(content.right))) return false;
    this.#scope.runner.done(message);
    return true;
  }

  async #isTaken(content: Received | Answered | Wanted): Promise<boolean> {
    switch (content.type) {
      case "message.received":
        return this.#receive(takenBy(this.#scope.runner.state, content));
      case "message.answered":
        return this.#applyAnswer(takenBy(this.#scope.runner.state, content));
      case "message.wanted":
        return this.#sendAgain(content);
    }
  }

  async #receive(offered: Received): Promise<boolean> {
    const { finished } = this.#scope;
    const { from, link, message } = offered;
    const isOver = await finished.find("link", finishedLink(from, link));
    if (isOver !== undefined) return this.#repeated(offered, true);
    if (message.type !== "process.woke") return this.#offer(this.#judged(offered));
    return finished.lookup("wake", wakeKey(message.wake), (seq) =>
      this.#offer(seq === undefined ? offered : { ...offered, known: true }),
    );
  }

  #offer(message: Received): boolean {
    const applied = this.#scope.runner.apply(message);
    if (E.isRight(applied)) return true;
    if (applied.left.code === "link_full") this.#want(message);
    return applied.left.code === "already_received" && this.#repeated(message, false);
  }

  /** Sends the answer on record once more. */
  #repeated(message: Received, isOver: boolean): true {
    const { runner } = this.#scope;
    const again: Outcome | undefined = answerOf(runner.state, message, isOver);
    if (again !== undefined) {
      const { from: to, link, number } = message;
      runner.say(answerSent(runner.id, { to, link, number, ...saidProtocol(runner.state) }, again));
    }
    return true;
  }

  #want(message: Received): void {
    this.#scope.runner.say(answerWanted({ ...message, to: message.from }));
  }

  #judged(offered: Received): Received {
    const invalid = this.#invalid(offered.message);
    return invalid === undefined ? offered : { ...offered, invalid };
  }

  #invalid(message: Message): string | undefined {
    const row = this.#scope.runner.state.process;
    if (message.type === "process.signal") return payloadMismatch(row, signalEventType(message.name), message.payload);
    if (message.type !== "process.append") return undefined;
    return payloadMismatch(row, message.request.event_type, message.request.payload);
  }

  /** Applies the answer to one of its own messages. A repeated answer changes nothing. */
  #applyAnswer(answered: Answered): true {
    this.#scope.runner.apply(answered);
    this.#answered();
    return true;
  }

  /** Sends a message again, as it would be sent now, if it has no answer yet. */
  #sendAgain({ to, link, number }: Wanted): true {
    const { runner } = this.#scope;
    const row = runner.state.links.get(to);
    const same = row === undefined ? [] : sendingsOf(row);
    const sending = same.find((one) => one.link === link && one.number === number);
    if (sending !== undefined) runner.say(messageSent(runner.id, { ...sending, ...saidProtocol(runner.state) }));
    return true;
  }
}
