/**
 * The carriage between scopes of one runtime: at least once, each link's messages in their order. A message is brought
 * until it is on record at its receiver, or its sender is lost; whoever opens the sender again sends it again.
 */
import type { Command, Outcome, Sending } from "@pawl/sansio-core";
import { ScopeLost } from "./error.ts";
import type { Links, Taken } from "./link.ts";
import type { Platform } from "./platform.ts";

type Answer = Extract<Command, { readonly type: "message.answer" }>;

/** A scope that others can speak to. */
export interface Addressee {
  readonly among: { readonly links: Links };
  /** `settled` resolves when all that was told it is durable; it rejects when the scope was lost before. */
  readonly runner: { readonly settled: () => Promise<void> };
}

export interface PostPort {
  readonly platform: Platform;
  readonly open: (scope: string) => Promise<Addressee>;
  readonly report: (what: string, thrown: unknown) => void;
}

const pauseMs = (tries: number): number => Math.min(30_000, 10 * 2 ** tries);

export class Post {
  readonly #port: PostPort;
  /** The last message that is being brought, by sender and receiver. */
  readonly #ways = new Map<string, Promise<unknown>>();

  constructor(port: PostPort) {
    this.#port = port;
  }

  /** Brings a message to its receiver. */
  async send(sender: Links, sending: Sending): Promise<void> {
    let next: Sending | undefined = sending;
    for (let tries = 0; next !== undefined; tries++) {
      if (await this.#bring(sender.id, next)) return;
      await this.#pause(tries);
      next = await this.#again(sender, next);
    }
  }

  /** A lost sender has nothing more to send: its next owner does. */
  async #again(sender: Links, sending: Sending): Promise<Sending | undefined> {
    try {
      return await sender.again(sending);
    } catch (thrown) {
      if (thrown instanceof ScopeLost) return undefined;
      throw thrown;
    }
  }

  async #bring(from: string, sending: Sending): Promise<boolean> {
    try {
      const [target, taken] = await this.#inOrder(`${from} ${sending.to}`, () => this.#offer(from, sending));
      await target.runner.settled();
      if (taken.type === "taken" && taken.again !== undefined) this.#repeat(from, sending, taken.again);
      return taken.type === "taken";
    } catch (thrown) {
      if (!(thrown instanceof ScopeLost)) this.#port.report(`a message from ${from} to ${sending.to}`, thrown);
      return false;
    }
  }

  async #offer(from: string, { to, link, number, heard, message }: Sending): Promise<readonly [Addressee, Taken]> {
    const target = await this.#port.open(to);
    return [target, await target.among.links.receive({ type: "message.received", from, link, number, heard, message })];
  }

  #inOrder<A>(way: string, bring: () => Promise<A>): Promise<A> {
    const before = this.#ways.get(way) ?? Promise.resolve();
    const brought = before.then(bring);
    const last = brought.then(
      () => undefined,
      () => undefined, // Whoever sent this one hears of it; the next one goes its own way.
    );
    this.#ways.set(way, last);
    void last.then(() => this.#ways.get(way) === last && this.#ways.delete(way));
    return brought;
  }

  #repeat(to: string, { to: from, link, number }: Sending, outcome: Outcome): void {
    this.answer(from, { type: "message.answer", to, link, number, outcome });
  }

  /** Brings an answer back. One that does not arrive is on record, and is given again when the message comes again. */
  answer(from: string, { to, link, number, outcome }: Answer): void {
    void this.#port
      .open(to)
      .then(({ among }) => among.links.hear({ type: "message.answered", to: from, link, number, outcome }))
      .catch((thrown: unknown) => {
        if (!(thrown instanceof ScopeLost)) this.#port.report(`an answer from ${from} to ${to}`, thrown);
      });
  }

  #pause(tries: number): Promise<void> {
    return new Promise((resolve) => void this.#port.platform.later(pauseMs(tries), resolve));
  }
}
