/**
 * A streamed answer on its way from the model to the SDK: at once, as long as the SDK does nothing but show it; the rest
 * once all of it is on record.
 *
 *   model ── part ──► log (in groups) ──────────── all on record ──┐
 *               └───► SDK, at once … from the first act on, waits ◄┘
 */
import { type FailedAnswer, type Part, errorOf } from "./answer.ts";

/** Parts that the SDK only shows. */
const shown =
  /^(?:stream-start|response-metadata|text-(?:start|delta|end)|reasoning-(?:start|delta|end)|tool-input-(?:start|delta|end)|source|file|reasoning-file|custom)$/;

const handed = (part: Part): Part =>
  part.type === "error" ? { type: "error", error: errorOf(part["error"] as FailedAnswer) } : part;

export class LiveParts {
  readonly #stop = new AbortController();
  readonly #begun = Promise.withResolvers<{ readonly stream: ReadableStream<Part> }>();
  readonly #over = Promise.withResolvers<void>();
  readonly #parts: Part[] = [];
  #count = 0;
  #isHeld = false;
  #last: { readonly thrown?: unknown } | undefined;
  #wake: () => void = () => undefined;

  /** Aborted when the SDK wants no more of it. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }
  /** The answer of `doStream`. */
  get answer(): Promise<{ readonly stream: ReadableStream<Part> }> {
    return this.#begun.promise;
  }

  /** Begins with the first part: an answer that fails before that is none. */
  #begin(): void {
    const pull = (controller: ReadableStreamDefaultController<Part>): Promise<void> => this.#pull(controller);
    const cancel = (): Promise<void> => {
      this.#stop.abort();
      this.#wake();
      return this.#over.promise; // What the program does next follows from what is on record.
    };
    this.#begun.resolve({ stream: new ReadableStream<Part>({ pull, cancel }, { highWaterMark: 0 }) });
  }

  async #pull(controller: ReadableStreamDefaultController<Part>): Promise<void> {
    while (this.#parts.length === 0 && this.#last === undefined && !this.stop.aborted)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    const part = this.#parts.shift();
    if (this.stop.aborted) return;
    if (part !== undefined) controller.enqueue(handed(part));
    else if (this.#last !== undefined && "thrown" in this.#last) controller.error(this.#last.thrown);
    else controller.close();
  }

  #hand(part: Part): void {
    this.#parts.push(part);
    this.#count += 1;
    this.#wake();
  }

  /** Hands on a part that was just said, if nothing can follow from it. */
  say(part: Part): void {
    if (this.#count === 0) this.#begin();
    this.#isHeld ||= !shown.test(part.type);
    if (!this.#isHeld) this.#hand(part);
  }

  /** Hands on the rest: all of it is on record. Where it failed before its first part there is no answer. */
  end(parts: readonly Part[], ...[thrown]: readonly [thrown?: unknown]): void {
    if (thrown !== undefined && parts.length === 0) this.#begun.reject(thrown);
    if (this.#count === 0) this.#begin();
    for (const part of parts.slice(this.#count)) this.#hand(part);
    this.#last = thrown === undefined ? {} : { thrown };
    this.#over.resolve();
    this.#wake();
  }
}
