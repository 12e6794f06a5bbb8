/** Mail for tabs: what a host says to one waits until the tab asks for it, and the tab answers by the letter's number. */
import type { MoveAnswer, Mover } from "@pawl/runtime";
import type { Mail, MailAnswer, MailBody } from "../engine/mail.ts";

interface Letter {
  readonly mail: Mail;
  readonly answered: (answer: MoveAnswer) => void;
}

export class MailBox {
  readonly #waiting = new Map<string, Letter[]>();
  readonly #sent = new Map<number, Letter>();
  readonly #readers = new Map<string, (mail: Mail | undefined) => void>();
  #ids = 0;

  /** Reaches the tab that has the session of this name. */
  moverTo(session: string): Mover {
    return {
      send: (part) => this.#send(session, { type: "part", part }),
      decline: (scope, nonce) => this.#send(session, { type: "decline", scope, nonce }),
    };
  }

  #send(session: string, body: MailBody): Promise<MoveAnswer> {
    this.#ids += 1;
    const mail = { id: this.#ids, body };
    return new Promise((answered) => {
      this.#waiting.set(session, [...(this.#waiting.get(session) ?? []), { mail, answered }]);
      this.#hand(session);
    });
  }

  #hand(session: string): void {
    const reader = this.#readers.get(session);
    const [letter, ...rest] = this.#waiting.get(session) ?? [];
    if (reader === undefined || letter === undefined) return;
    this.#readers.delete(session);
    this.#waiting.set(session, rest);
    this.#sent.set(letter.mail.id, letter);
    reader(letter.mail);
  }

  /** The next letter of a tab; nothing, when another asks in its place or it asks no more. */
  next(session: string, signal: AbortSignal): Promise<Mail | undefined> {
    this.#readers.get(session)?.(undefined);
    return new Promise((resolve) => {
      this.#readers.set(session, resolve);
      signal.addEventListener("abort", () => {
        if (this.#readers.get(session) === resolve) this.#readers.delete(session);
        resolve(undefined);
      });
      this.#hand(session);
    });
  }

  answer({ id, answer }: MailAnswer): void {
    this.#sent.get(id)?.answered(answer);
    this.#sent.delete(id);
  }

  close(): void {
    for (const reader of this.#readers.values()) reader(undefined);
    this.#readers.clear();
  }
}
