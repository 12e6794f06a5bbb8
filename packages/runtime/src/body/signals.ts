/** What tells a body's work to stop: one signal for what a cancel stops, one for what it must not. */
import { EffectError } from "../error.ts";

/** Made once: they say nothing of where they came from. */
export const ended = new EffectError("call_ended", "the call has ended");
const cancelled = new EffectError("cancelled", "the call was cancelled");

/** A signal that is made when somebody asks for it: most bodies do not. */
class Lazy {
  #controller: AbortController | undefined;
  #reason: EffectError | undefined;

  abort(reason: EffectError): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.#reason);
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }
}

export class Signals {
  readonly #work = new Lazy();
  readonly #shielded = new Lazy();
  #isCancelled = false;

  cancel(): void {
    this.#isCancelled = true;
    this.#work.abort(cancelled);
  }

  end(): void {
    this.#work.abort(ended);
    this.#shielded.abort(ended);
  }

  /** Aborted when the call is cancelled, and when it ends. */
  get work(): AbortSignal {
    return this.#work.signal;
  }

  /** Of what begins after a cancel: aborted when the call ends. */
  get current(): () => AbortSignal {
    const lazy = this.#isCancelled ? this.#shielded : this.#work;
    return () => lazy.signal;
  }
}
