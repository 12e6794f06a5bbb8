/** Cleaning up after a cancel. */
import { EffectError } from "../../error.ts";
import type { Asking } from "./asking.ts";

export interface CleanUp {
  /** Aborted when its time is over. */
  readonly signal: AbortSignal;
}

export interface Cancels {
  /**
   * When the call is cancelled, `fn` runs, and may ask for durable effects; the call's end waits for it, at most
   * `deadlineMs` (10 seconds). After a crash, or where the body had left the memory, the body runs again and so does `fn`.
   */
  readonly onCancel: (fn: (cleanUp: CleanUp) => unknown, options?: { readonly deadlineMs?: number }) => void;
}

const defaultMs = 10_000;

export const cancels = (asking: Asking): Cancels => {
  const { body, facts } = asking;

  const run = async (fn: (cleanUp: CleanUp) => unknown): Promise<void> => {
    try {
      await fn({ signal: body.signals.current() });
    } catch (thrown) {
      if (!body.isOver) facts.report(thrown); // What it throws because its time is over is nobody's.
    }
  };

  const onCancel: Cancels["onCancel"] = (fn, { deadlineMs = defaultMs } = {}) => {
    if (!Number.isSafeInteger(deadlineMs) || deadlineMs < 0) {
      const found = `expected a whole number of milliseconds, found ${deadlineMs}`;
      throw new EffectError("durable_effect_value", `the deadline of a clean-up: ${found}`);
    }
    body.cleanUps.ask();
    const key = asking.nextName("on-cancel");
    const answered = asking.ask(key, { kind: "cleanup", deadline_ms: deadlineMs }, deadlineMs);
    void answered.then(
      () => body.cleanUps.run(() => run(fn), deadlineMs),
      () => undefined, // The run is over.
    );
  };
  return { onCancel };
};
