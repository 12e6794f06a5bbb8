/**
 * The questions and subscriptions that share one socket to a host. The socket reconnects below; this layer numbers the
 * questions, matches the answers, and sends everything that is still open again.
 */
import type { ClientFrame } from "../frame/client-frame.ts";
import type { HostFrame } from "../frame/host-frame.ts";
import { checkedFrame } from "./check.ts";
import { type HostRefused, refusalOf } from "./error.ts";
import { ReconnectingSocket, type SocketOptions } from "./reconnecting-socket.ts";
import { type AskOptions, PendingQuestions, type SingleQuestion, type WithoutId } from "./pending-questions.ts";
import type { AnySubscription } from "./subscription.ts";

export interface ConnectionPort {
  /** The host has accepted the token. */
  readonly opened: () => void;
  /** Receives every frame that answers no question and belongs to no subscription of this connection. */
  readonly received: (frame: HostFrame) => void;
  /** The socket has ended for good. */
  readonly ended: (error: HostRefused) => void;
  /** Returns true if a refused subscription continues elsewhere. `wasServed`: frames of it had arrived before. */
  readonly continues: (subscription: AnySubscription, refusal: HostRefused, wasServed: boolean) => boolean;
}

interface Subscribed {
  readonly subscription: AnySubscription;
  wasServed: boolean;
}

export class Connection {
  readonly #port: ConnectionPort;
  readonly #questions: PendingQuestions;
  readonly #socket: ReconnectingSocket;
  readonly #subscribed = new Map<number, Subscribed>();
  readonly #idOf = new WeakMap<AnySubscription, number>();
  /** Subscriptions that the host asked to repeat later. */
  readonly #retries = new Set<ReturnType<typeof setTimeout>>();
  #lastId = 0;
  #ended: HostRefused | undefined;

  constructor(options: SocketOptions, port: ConnectionPort) {
    this.#port = port;
    this.#questions = new PendingQuestions((frame) => this.#socket.send(frame));
    this.#socket = new ReconnectingSocket(options, {
      opened: () => this.#resume(),
      received: (frame) => this.#receive(frame),
      ended: (error) => {
        this.end(error);
        port.ended(error);
      },
    });
  }

  get isOpen(): boolean {
    return this.#socket.isOpen;
  }

  nextId(): number {
    return (this.#lastId += 1);
  }

  send(frame: ClientFrame): void {
    this.#socket.send(frame);
  }

  /** Resolves with the answer, however many reconnections that takes. */
  async ask(question: WithoutId<SingleQuestion>, options?: AskOptions): Promise<HostFrame> {
    if (this.#ended !== undefined) throw this.#ended;
    return this.#questions.ask(checkedFrame({ ...question, id: this.nextId() } as SingleQuestion), options);
  }

  begin(subscription: AnySubscription): void {
    if (this.#ended !== undefined) return subscription.end(this.#ended);
    const id = this.nextId();
    this.#subscribed.set(id, { subscription, wasServed: false });
    this.#idOf.set(subscription, id);
    this.#subscribe(id);
  }

  seen(subscription: AnySubscription, cursor: number): void {
    const id = this.#idOf.get(subscription);
    if (id !== undefined) this.send({ type: "seen", id, cursor });
  }

  leave(subscription: AnySubscription): void {
    const id = this.#idOf.get(subscription);
    if (id === undefined) return;
    this.#subscribed.delete(id);
    this.send({ type: "unobserve", id });
  }

  #subscribe(id: number): void {
    const subscribed = this.#subscribed.get(id);
    subscribed?.subscription.whenDrained(() => {
      if (this.#subscribed.get(id) === subscribed) this.send(subscribed.subscription.question(id));
    });
  }

  #resume(): void {
    this.#port.opened();
    this.#questions.resend();
    this.#cancelRetries();
    for (const id of this.#subscribed.keys()) this.#subscribe(id);
  }

  #receive(frame: HostFrame): void {
    if (!("id" in frame) || frame.id === undefined) return this.#port.received(frame);
    if (this.#questions.settle(frame.id, frame)) return;
    if (frame.type === "done" || frame.type === "error") return this.#over(frame.id, frame);
    const subscribed = this.#subscribed.get(frame.id);
    if (subscribed === undefined) return;
    subscribed.wasServed = true;
    subscribed.subscription.receive(frame);
  }

  /** Ends a subscription, or subscribes again after a pause if the host asks for that. */
  #over(id: number, frame: Extract<HostFrame, { readonly type: "done" | "error" }>): void {
    const subscribed = this.#subscribed.get(id);
    if (subscribed === undefined) return this.#port.received(frame);
    if (frame.type === "error" && frame.retry_after_ms !== undefined) return this.#retryAfter(id, frame.retry_after_ms);
    this.#subscribed.delete(id);
    if (frame.type === "done") subscribed.subscription.end();
    else this.#refused(subscribed, refusalOf(frame));
  }

  #retryAfter(id: number, ms: number): void {
    const timer = setTimeout(() => {
      this.#retries.delete(timer);
      this.#subscribe(id);
    }, ms);
    this.#retries.add(timer);
  }

  #cancelRetries(): void {
    for (const timer of this.#retries) clearTimeout(timer);
    this.#retries.clear();
  }

  #refused({ subscription, wasServed }: Subscribed, refusal: HostRefused): void {
    if (!this.#port.continues(subscription, refusal, wasServed)) subscription.end(refusal);
  }

  drop(): void {
    this.#socket.drop();
  }

  close(error: HostRefused): void {
    this.#socket.close();
    this.end(error);
  }

  end(error: HostRefused): void {
    this.#ended ??= error;
    this.#questions.end(error);
    this.#cancelRetries();
    const subscribed = [...this.#subscribed.values()];
    this.#subscribed.clear();
    for (const one of subscribed) this.#refused(one, error);
  }
}
