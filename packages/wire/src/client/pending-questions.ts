/**
 * The questions of one connection that have no answer yet. Nothing is kept in the connection itself: after a reconnection
 * every open question is sent again, marked `again` where a repeat must not count twice.
 */
import type { ClientFrame, Question } from "../frame/client-frame.ts";
import type { HostFrame } from "../frame/host-frame.ts";
import { refusalOf } from "./error.ts";

/** A question that is answered by many frames. */
export type SubscribeQuestion = Extract<Question, { readonly type: "observe" | "watch" | "stream" | "read_turn" }>;
/** A question that is answered by one frame. */
export type SingleQuestion =
  | Exclude<Question, SubscribeQuestion>
  | Extract<ClientFrame, { readonly type: "receive" | "execute" }>;

export type WithoutId<A> = A extends { readonly id: number } ? Omit<A, "id"> : never;

type Send = (frame: SingleQuestion | Extract<ClientFrame, { readonly type: "unobserve" }>) => void;

export interface AskOptions {
  /** The question was sent over another connection, which was lost before it answered. */
  readonly wasAsked?: boolean;
  /** Tells the host that nobody waits for the answer any more. The question itself stands. */
  readonly signal?: AbortSignal | undefined;
}

interface Pending {
  readonly frame: SingleQuestion;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (frame: HostFrame) => void;
  readonly reject: (error: Error) => void;
}

/** Marks a question whose first answer may have been lost. Only these four are answered differently for it. */
const markedAgain = (frame: SingleQuestion): SingleQuestion => {
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

export class PendingQuestions {
  readonly #pending = new Map<number, Pending>();
  readonly #send: Send;
  readonly #retries = new Set<ReturnType<typeof setTimeout>>();

  constructor(send: Send) {
    this.#send = send;
  }

  ask(question: SingleQuestion, { wasAsked = false, signal }: AskOptions = {}): Promise<HostFrame> {
    const frame = wasAsked ? markedAgain(question) : question;
    const leave = (): void => this.#send({ type: "unobserve", id: frame.id });
    signal?.addEventListener("abort", leave, { once: true });
    return new Promise<HostFrame>((resolve, reject) => {
      const pending = { frame, signal, resolve, reject };
      this.#pending.set(frame.id, pending);
      this.#sendPending(pending);
    }).finally(() => signal?.removeEventListener("abort", leave));
  }

  #sendPending({ frame, signal }: Pending): void {
    this.#send(frame);
    if (signal?.aborted === true) this.#send({ type: "unobserve", id: frame.id });
  }

  /** Settles the question that a frame answers; returns false if no question of this id is open. */
  settle(id: number, frame: HostFrame): boolean {
    const pending = this.#pending.get(id);
    if (pending === undefined) return false;
    if (frame.type === "error" && frame.retry_after_ms !== undefined) {
      this.#retryAfter(id, frame.retry_after_ms);
      return true;
    }
    this.#pending.delete(id);
    if (frame.type === "error") pending.reject(refusalOf(frame));
    else pending.resolve(frame);
    return true;
  }

  #retryAfter(id: number, ms: number): void {
    const timer = setTimeout(() => {
      this.#retries.delete(timer);
      const pending = this.#pending.get(id);
      if (pending !== undefined) this.#sendPending({ ...pending, frame: markedAgain(pending.frame) });
    }, ms);
    this.#retries.add(timer);
  }

  /** Sends every open question over the new connection. Retries that the last one asked for are dropped with it. */
  resend(): void {
    this.#cancelRetries();
    for (const pending of this.#pending.values()) this.#sendPending({ ...pending, frame: markedAgain(pending.frame) });
  }

  #cancelRetries(): void {
    for (const timer of this.#retries) clearTimeout(timer);
    this.#retries.clear();
  }

  end(error: Error): void {
    this.#cancelRetries();
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
