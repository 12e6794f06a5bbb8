/**
 * Carries the letters of an object's outbox to the objects of their targets. Letters to one target go in order, one call at a
 * time; targets do not wait for each other. A call that fails is made again after longer and longer pauses; after an eviction the alarm
 * brings what is left. A target that has taken a letter already takes it as if for the first time: the runtime knows it.
 */
import type { InboxMessage } from "@pawl/runtime/driver";
import type { Mail, OutLetter } from "./mail.ts";

export type Letter = Omit<InboxMessage, "from">;

/** The object of another scope. */
export interface Peer {
  /** Resolves once the letters are durable there. */
  deliver(from: string, letters: readonly Letter[]): Promise<void>;
}

interface CarrierPort {
  readonly scope: string;
  readonly mail: Mail;
  readonly peer: (scope: string) => Peer;
  readonly later: (ms: number, then: () => void) => () => void;
  readonly report: (what: string, thrown: unknown) => void;
}

const letterOf = ({ kind, link, number, text }: OutLetter): Letter => ({ kind, link, number, text });

const pauseMs = (tries: number): number => Math.min(30_000, 100 * 2 ** tries);

export class Carrier {
  readonly #port: CarrierPort;
  readonly #under = new Map<string, Promise<void>>();
  /** Failures in a row, by target, and the timer of the next try. */
  readonly #pauses = new Map<string, { readonly tries: number; readonly callOff: () => void }>();

  constructor(port: CarrierPort) {
    this.#port = port;
  }

  /** Brings all letters to a scope, unless a pause is on. */
  carry(to: string): Promise<void> {
    if (this.#pauses.has(to)) return Promise.resolve();
    return this.#start(to, 0);
  }

  /** Brings all letters, without the rest of any pause. Resolves when each was taken, or has failed once more. */
  async carryAll(): Promise<void> {
    await Promise.all(
      this.#port.mail.targets().map((to) => {
        const { tries = 0, callOff } = this.#pauses.get(to) ?? {};
        callOff?.();
        this.#pauses.delete(to);
        return this.#start(to, tries);
      }),
    );
  }

  #start(to: string, tries: number): Promise<void> {
    const under = this.#under.get(to) ?? this.#bring(to, tries);
    this.#under.set(to, under);
    return under;
  }

  async #bring(to: string, tries: number): Promise<void> {
    const { scope, mail, peer } = this.#port;
    try {
      for (let letters = mail.letters(to); letters.length > 0; letters = mail.letters(to)) {
        await peer(to).deliver(scope, letters.map(letterOf));
        mail.sent(letters);
      }
    } catch (thrown) {
      this.#port.report(`the letters to ${to} were not taken`, thrown);
      this.#pause(to, tries);
    } finally {
      this.#under.delete(to);
    }
  }

  #pause(to: string, tries: number): void {
    const callOff = this.#port.later(pauseMs(tries), () => {
      this.#pauses.delete(to);
      void this.#start(to, tries + 1);
    });
    this.#pauses.set(to, { tries, callOff });
  }
}
