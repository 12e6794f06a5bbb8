/** Questions that are not answered yet. Those that may be asked twice are asked again on the next connection. */
import type { Question } from "../wire/client-frame.ts";
import type { HostFrame } from "../wire/host-frame.ts";
import { HostRefused, refusalOf } from "./error.ts";

export type Asked = Exclude<Question, { readonly type: "observe" }>;

interface Open {
  readonly frame: Asked;
  readonly resolve: (frame: HostFrame) => void;
  readonly reject: (error: Error) => void;
}

/** A decision that was taken is refused the second time: whether it was is found out by looking. */
const onceOnly: ReadonlySet<Asked["type"]> = new Set(["approve", "reject"]);

/** Asked again by the client itself, as their answer is the same however often they are asked. */
const isRetried = ({ type }: Asked): boolean => !onceOnly.has(type);

export class Asking {
  readonly #open = new Map<number, Open>();
  readonly #send: (frame: Asked) => void;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  constructor(send: (frame: Asked) => void) {
    this.#send = send;
  }

  ask(frame: Asked): Promise<HostFrame> {
    return new Promise((resolve, reject) => {
      this.#open.set(frame.id, { frame, resolve, reject });
      this.#send(frame);
    });
  }

  /** Whether the answer was to one of these questions. */
  answered(id: number, frame: HostFrame): boolean {
    const open = this.#open.get(id);
    if (open === undefined) return false;
    if (frame.type === "error" && frame.retry_after_ms !== undefined && isRetried(open.frame)) {
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
      if (open !== undefined) this.#send(open.frame);
    }, ms);
    this.#timers.add(timer);
  }

  /** The connection is back. */
  again(): void {
    for (const { frame } of this.#open.values()) this.#send(frame);
  }

  /** The connection is gone, and with it the answers to what may be asked only once. */
  lost(): void {
    for (const [id, { frame, reject }] of this.#open) {
      if (isRetried(frame)) continue;
      this.#open.delete(id);
      reject(new HostRefused("connection_lost", `the connection was lost before ${frame.type} was answered`));
    }
  }

  end(error: Error): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    for (const { reject } of this.#open.values()) reject(error);
    this.#open.clear();
  }
}
