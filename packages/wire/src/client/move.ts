/** Moves over a client: scopes that its host sends to it, and scopes that a runtime sends away through it. */
import type { MoveAnswer, Mover } from "@pawl/runtime/driver";
import type { ClientFrame } from "../frame/client-frame.ts";
import type { HostFrame } from "../frame/host-frame.ts";
import { type HostRefused, unexpected } from "./error.ts";
import type { SingleQuestion, WithoutId } from "./pending-questions.ts";

/** Returns `runtime.moves.arrivals` of the runtime that has the store open now. */
export type Arrivals = () => Pick<Mover, "send" | "decline"> | Promise<Pick<Mover, "send" | "decline">>;

export interface ReceiveOptions {
  /** Called when the host refuses the store or its client, so that no scope arrives. Logs to the console by default. */
  readonly refused?: (error: HostRefused) => void;
}

interface Store {
  readonly arrivals: Arrivals;
  readonly refused: (error: HostRefused) => void;
  /** The id of the last `receive` question about it; undefined until the host has accepted the store. */
  question: number | undefined;
}

type MoveFrame = Extract<HostFrame, { readonly type: "move_part" | "decline_move" }>;

const answerTo = async (frame: MoveFrame, arrivals: Arrivals): Promise<MoveAnswer> => {
  const mover = await arrivals();
  return frame.type === "move_part" ? mover.send(frame) : mover.decline(frame.scope, frame.nonce);
};

/** The stores of a client that scopes can move to, by name. */
export class ReceivingStores {
  readonly #stores = new Map<string, Store>();
  readonly #send: (frame: ClientFrame) => void;

  constructor(send: (frame: ClientFrame) => void) {
    this.#send = send;
  }

  /** Registers a store once `ask` succeeds. A failure leaves the store that had the name before. */
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

  /** Registers the accepted stores with the host again, over a new connection. */
  registerAgain(nextId: () => number): void {
    for (const [name, store] of this.#stores) {
      if (store.question === undefined) continue;
      store.question = nextId();
      this.#send({ type: "receive", id: store.question, name });
    }
  }

  /** Tells the store that asked `question` of its refusal; without a question, every accepted store. */
  refused(error: HostRefused, question?: number): void {
    for (const store of this.#stores.values()) {
      const isMeant = question === undefined ? store.question !== undefined : store.question === question;
      if (isMeant) store.refused(error);
    }
  }

  /** Passes a frame to its store. If the store fails, the answer is left out and the host asks again. */
  async receive(frame: MoveFrame): Promise<void> {
    const { n, receiver } = frame;
    const arrivals = this.#stores.get(receiver)?.arrivals;
    const answer = arrivals && (await answerTo(frame, arrivals).catch(() => undefined));
    this.#send({ type: "move_answer", n, ...(answer === undefined ? {} : { answer }) });
  }
}

type MoveQuestion = Extract<SingleQuestion, { readonly type: "move_part" | "decline_move" }>;

/** Returns a mover to the client's host. The client's token needs the right `move`; its owner closes the client. */
export const moverOver = (client: {
  readonly ask: (question: WithoutId<MoveQuestion>) => Promise<HostFrame>;
}): Mover => {
  const ask = async (question: WithoutId<MoveQuestion>): Promise<MoveAnswer> => {
    const frame = await client.ask(question);
    if (frame.type === "move_answered") return frame.answer;
    throw unexpected(frame, "move_answered");
  };
  return {
    send: ({ scope, nonce, part, parts, text }) => ask({ type: "move_part", scope, nonce, part, parts, text }),
    decline: (scope, nonce) => ask({ type: "decline_move", scope, nonce }),
  };
};
