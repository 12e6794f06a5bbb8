/** Scopes that a host moves to a client: it puts them into the store of a runtime of its own. */
import type { MoveAnswer, Mover } from "@pawl/runtime";
import type { ClientFrame } from "../frame/client-frame.ts";
import type { HostFrame } from "../frame/host-frame.ts";
import type { HostRefused } from "./error.ts";

/** `runtime.moves.arrivals` of whichever runtime has the store now. */
export type Arrivals = () => Pick<Mover, "send" | "decline"> | Promise<Pick<Mover, "send" | "decline">>;

export interface ReceiveOptions {
  /** The host takes the store no more, or lets its client in no more: nothing moves here. Without this the console shows it. */
  readonly refused?: (error: HostRefused) => void;
}

/** One store, and the question by which it was told of last; none before the host has taken it. */
interface Store {
  readonly arrivals: Arrivals;
  readonly refused: (error: HostRefused) => void;
  question: number | undefined;
}

type Told = Extract<HostFrame, { readonly type: "move_part" | "decline_move" }>;

const answerTo = async (told: Told, arrivals: Arrivals): Promise<MoveAnswer> => {
  const mover = await arrivals();
  return told.type === "move_part" ? mover.send(told) : mover.decline(told.scope, told.nonce);
};

export class Receiving {
  readonly #stores = new Map<string, Store>();
  readonly #send: (frame: ClientFrame) => void;

  constructor(send: (frame: ClientFrame) => void) {
    this.#send = send;
  }

  /** Scopes may come from now on. What `ask` refuses is none, and leaves what was there before. */
  async begin(name: string, options: Omit<Store, "question">, ask: () => Promise<string>): Promise<string> {
    const store: Store = { ...options, question: undefined };
    const before = this.#stores.get(name);
    this.#stores.set(name, store);
    try {
      const address = await ask();
      store.question = 0;
      return address;
    } catch (thrown) {
      if (this.#stores.get(name) === store) this.#stores.delete(name);
      if (before !== undefined && !this.#stores.has(name)) this.#stores.set(name, before);
      throw thrown;
    }
  }

  /** There is another connection: what the host has taken it is told of again. */
  again(nextId: () => number): void {
    for (const [name, store] of this.#stores) {
      if (store.question === undefined) continue;
      store.question = nextId();
      this.#send({ type: "receive", id: store.question, name });
    }
  }

  /** One is refused by its number; all of them where there will be no other connection. */
  refused(error: HostRefused, question?: number): void {
    for (const store of this.#stores.values()) {
      const isMeant = question === undefined ? store.question !== undefined : store.question === question;
      if (isMeant) store.refused(error);
    }
  }

  /** A store that fails says nothing of a scope: the host asks again. */
  async heard(told: Told): Promise<void> {
    const { n, receiver } = told;
    const arrivals = this.#stores.get(receiver)?.arrivals;
    const answer = arrivals && (await answerTo(told, arrivals).catch(() => undefined));
    this.#send({ type: "move_answer", n, ...(answer === undefined ? {} : { answer }) });
  }
}
