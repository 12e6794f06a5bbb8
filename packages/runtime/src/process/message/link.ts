/**
 * What a scope hears from others. Each message is taken once: the state knows what came, and the finished index which
 * links are over and which wakes were delivered. A repeated message gets the answer that is on record.
 */
import {
  type Message,
  type Outcome,
  answerOf,
  finishedLink,
  sendingsOf,
  signalEventType,
  wakeKey,
} from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import type { InboxMessage } from "../../journal/journal.ts";
import {
  type Answered,
  type Received,
  type Wanted,
  answerSent,
  contentOf,
  messageSent,
  answerWanted,
} from "../../scope/message.ts";
import { payloadMismatch } from "../../tool/payload-schema.ts";
import type { ScopeAccess } from "../work.ts";

export class Links {
  readonly #scope: ScopeAccess;
  readonly #answered: () => void;

  /** `answered`: a link may have room again. */
  constructor(scope: ScopeAccess, answered: () => void) {
    this.#scope = scope;
    this.#answered = answered;
  }

  /** Takes a letter, with all that it comes to in one append; says whether it is done with, or has to be looked at again. */
  async take(letter: InboxMessage): Promise<boolean> {
    const content = contentOf(letter);
    if (E.isLeft(content)) {
      this.#scope.report(this.#scope.runner.id, new Error(content.left));
      return false;
    }
    if (!(await this.#isTaken(content.right))) return false;
    this.#scope.runner.done(letter);
    return true;
  }

  async #isTaken(content: Received | Answered | Wanted): Promise<boolean> {
    switch (content.type) {
      case "message.received":
        return this.#receive(content);
      case "message.answered":
        return this.#hear(content);
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
    const told = this.#scope.runner.apply(message);
    if (E.isRight(told)) return true;
    if (told.left.code === "link_full") this.#want(message);
    return told.left.code === "already_received" && this.#repeated(message, false);
  }

  #repeated(message: Received, isOver: boolean): true {
    const { runner } = this.#scope;
    const again: Outcome | undefined = answerOf(runner.state, message, isOver);
    if (again !== undefined) runner.say(answerSent(runner.id, { ...message, to: message.from }, again));
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

  /** The answer to one of its own messages; one that comes again changes nothing. */
  #hear(answered: Answered): true {
    this.#scope.runner.apply(answered);
    this.#answered();
    return true;
  }

  /** A message as it would be sent now, if it is not answered. */
  #sendAgain({ to, link, number }: Wanted): true {
    const { runner } = this.#scope;
    const row = runner.state.links.get(to);
    const same = row === undefined ? [] : sendingsOf(row);
    const sending = same.find((one) => one.link === link && one.number === number);
    if (sending !== undefined) runner.say(messageSent(runner.id, sending));
    return true;
  }
}
