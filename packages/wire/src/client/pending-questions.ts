/** Questions that are not answered yet: they are asked again on the next connection. */
import type { ClientFrame, Question } from "../frame/client-frame.ts";
import type { HostFrame } from "../frame/host-frame.ts";
import { refusalOf } from "./error.ts";

/** What is answered by many frames. */
export type Subscribing = Extract<Question, { readonly type: "observe" | "watch" }>;
export type Asked = Exclude<Question, Subscribing> | Extract<ClientFrame, { readonly type: "receive" }>;

type Send = (frame: Asked | Extract<ClientFrame, { readonly type: "unobserve" }>) => void;

export interface AskingOptions {
  /** Over another connection, which has not answered. */
  readonly wasAsked?: boolean;
  /** Whoever asks is gone: the host need not wait. It is told so once it has the question, which goes on. */
  readonly signal?: AbortSignal | undefined;
}

interface Open {
  readonly frame: Asked;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (frame: HostFrame) => void;
  readonly reject: (error: Error) => void;
}

/** A question whose first answer may have been lost, where it makes a difference: the others are answered the same. */
const again = (frame: Asked): Asked => {
  switch (frame.type) {
    case "approve":
    case "reject":
    case "cancel_call":
    case "cancel_request":
      return { ...frame, again: true };
    default:
      return frame;
  }
};

export class Asking {
  readonly #open = new Map<number, Open>();
  readonly #send: Send;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  constructor(send: Send) {
    this.#send = send;
  }

  ask(asked: Asked, { wasAsked = false, signal }: AskingOptions = {}): Promise<HostFrame> {
    const frame = wasAsked ? again(asked) : asked;
    const leave = (): void => this.#send({ type: "unobserve", id: frame.id });
    signal?.addEventListener("abort", leave, { once: true });
    return new Promise<HostFrame>((resolve, reject) => {
      const open = { frame, signal, resolve, reject };
      this.#open.set(frame.id, open);
      this.#say(open);
    }).finally(() => signal?.removeEventListener("abort", leave));
  }

  #say({ frame, signal }: Open): void {
    this.#send(frame);
    if (signal?.aborted === true) this.#send({ type: "unobserve", id: frame.id });
  }

  /** Whether the answer was to one of these questions. */
  answered(id: number, frame: HostFrame): boolean {
    const open = this.#open.get(id);
    if (open === undefined) return false;
    if (frame.type === "error" && frame.retry_after_ms !== undefined) {
      this.#later(id, frame.retry_after_ms);
      return true;
    }
    this.#open.delete(id);
    if (frame.type === "error") open.reject(refusalOf(frame));
    else open.resolve(frame);
    return true;
  }

  #later(id: number, ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      const open = this.#open.get(id);
      if (open !== undefined) this.#say({ ...open, frame: again(open.frame) });
    }, ms);
    this.#timers.add(timer);
  }

  /** The connection is back. What its host had put off was with the one before. */
  again(): void {
    this.#putOffNothing();
    for (const open of this.#open.values()) this.#say({ ...open, frame: again(open.frame) });
  }

  #putOffNothing(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  end(error: Error): void {
    this.#putOffNothing();
    for (const { reject } of this.#open.values()) reject(error);
    this.#open.clear();
  }
}
