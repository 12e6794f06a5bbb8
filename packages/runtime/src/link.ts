/**
 * What a scope hears from others. Each message is taken once: the state knows what came, and the finished index which
 * links are over and which wakes were delivered. A repeated message gets the answer that is on record.
 */
import {
  type EventOf,
  type LinkRow,
  type Message,
  type Outcome,
  type Sending,
  answerOf,
  finishedLink,
  sendingsOf,
  signalEventType,
  wakeKey,
} from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { payloadMisfit } from "./process-schema.ts";
import type { Workplace } from "./process-work.ts";

export type Received = EventOf<"message.received">;
export type Answered = EventOf<"message.answered">;

/** What came of offering a message: it is on record, with its answer where it came before; or it has to come again. */
export type Taken = { readonly type: "taken"; readonly again?: Outcome } | { readonly type: "later" };

export class Links {
  readonly #scope: Workplace;
  readonly #answered: () => void;

  /** `answered`: a link may have room again. */
  constructor(scope: Workplace, answered: () => void) {
    this.#scope = scope;
    this.#answered = answered;
  }

  get id(): string {
    return this.#scope.runner.id;
  }

  /** A message from another scope. */
  async receive(offered: Received): Promise<Taken> {
    const { finished } = this.#scope;
    const { from, link, message } = offered;
    if ((await finished.find("link", finishedLink(from, link))) !== undefined) return this.#repeated(offered, true);
    if (message.type !== "process.woke") return this.#offer(this.#judged(offered));
    return finished.lookup("wake", wakeKey(message.wake), (seq) =>
      this.#offer(seq === undefined ? offered : { ...offered, known: true }),
    );
  }

  #offer(message: Received): Taken {
    const told = this.#scope.runner.tell(message);
    if (E.isRight(told)) return { type: "taken" };
    return told.left.code === "already_received" ? this.#repeated(message, false) : { type: "later" };
  }

  #repeated(message: Received, isOver: boolean): Taken {
    const again = answerOf(this.#scope.runner.state, message, isOver);
    return again === undefined ? { type: "taken" } : { type: "taken", again };
  }

  #judged(offered: Received): Received {
    const invalid = this.#invalid(offered.message);
    return invalid === undefined ? offered : { ...offered, invalid };
  }

  #invalid(message: Message): string | undefined {
    const row = this.#scope.runner.state.process;
    if (message.type === "process.signal") return payloadMisfit(row, signalEventType(message.name), message.payload);
    if (message.type !== "process.append") return undefined;
    return payloadMisfit(row, message.request.event_type, message.request.payload);
  }

  /** The answer to one of its own messages; one that comes again changes nothing. */
  hear(answered: Answered): void {
    this.#scope.runner.tell(answered);
    this.#answered();
  }

  /** A message as it would be sent now; undefined when it is answered. What it says was heard is durable. */
  async again({ to, link, number }: Sending): Promise<Sending | undefined> {
    await this.#scope.runner.settled();
    const row: LinkRow | undefined = this.#scope.runner.state.links.get(to);
    const same = row === undefined ? [] : sendingsOf(row);
    return same.find((one) => one.link === link && one.number === number);
  }
}
