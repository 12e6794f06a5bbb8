/**
 * Durable steps and clean-ups: work of the body's own. A step runs once per record and is answered from the record
 * afterwards. A clean-up runs when the call is cancelled.
 */
import type { EffectResult, StepRecovery } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { EffectError, failureOf } from "../../error.ts";
import { withoutAbort } from "../stop.ts";
import { type Asking, type Durable, problemOfDurable, refusing, toJson, valueOf } from "./facet.ts";

/** Handed to a step's function beside its input. */
export interface StepInfo {
  /** The step's replay key: hand it to the outside service as idempotency key. */
  readonly key: string;
  /** Aborted by a cancel, unless the step was asked for after it. */
  readonly signal: AbortSignal;
  readonly attempt: number;
}

export interface CleanUp {
  /** Aborted when its time is over. */
  readonly signal: AbortSignal;
}

export interface Steps {
  /** Runs `fn` once per record: a body that runs again is answered from the log. */
  readonly runJson: <A>(
    stepId: string,
    input: unknown,
    fn: (input: Json, info: StepInfo) => A | Promise<A>,
    options?: { readonly recovery?: StepRecovery },
  ) => Durable<A>;
  /**
   * When the call is cancelled, `fn` runs, and may ask for durable effects; the call's end waits for it, at most
   * `deadlineMs` (10 seconds). After a crash, or where the body had left the memory, the body runs again and so does `fn`.
   */
  readonly onCancel: (fn: (cleanUp: CleanUp) => unknown, options?: { readonly deadlineMs?: number }) => void;
}

const misuseOf = (stepId: string, used: ReadonlySet<string>): EffectError | undefined => {
  if (stepId.trim() === "")
    return new EffectError("durable_effect_empty_step_id", "durable effect step id must be non-empty");
  if (!used.has(stepId)) return undefined;
  const message = `durable effect step id \`${stepId}\` was already used by this tool call`;
  return new EffectError("durable_effect_duplicate_step_id", message);
};

class Info implements StepInfo {
  readonly #asking: Asking;
  readonly #key: string;
  readonly #signal: () => AbortSignal;

  constructor(asking: Asking, key: string) {
    this.#asking = asking;
    this.#key = key;
    this.#signal = asking.body.signals.current;
  }
  get key(): string {
    return `${this.#asking.facts.base}:${this.#key}`;
  }
  get signal(): AbortSignal {
    return this.#signal();
  }
  get attempt(): number {
    return this.#asking.facts.attempt;
  }
}

const isThenable = (u: unknown): u is PromiseLike<unknown> =>
  typeof u === "object" && u !== null && "then" in u && typeof u.then === "function";

const errorOf = (thrown: unknown): EffectResult => failureOf(withoutAbort(thrown), "durable_step_failed", EffectError);

/** Runs a step's work. The result is there at once where the work returns no promise. */
const resultOf = (work: () => unknown, stepId: string): EffectResult | Promise<EffectResult> => {
  const succeeded = (value: unknown): EffectResult => ({
    status: "ok",
    value: toJson(value, `the result of step \`${stepId}\``),
  });
  try {
    const returned = work();
    return isThenable(returned) ? Promise.resolve(returned).then(succeeded).catch(errorOf) : succeeded(returned);
  } catch (thrown) {
    return errorOf(thrown);
  }
};

const runJson = (asking: Asking): Steps["runJson"] => {
  const used = new Set<string>();
  return (stepId, input, fn, { recovery = "again" } = {}) => {
    const key = `durable-step:${stepId}`;
    return refusing(key, () => {
      const misuse = problemOfDurable(asking.facts.capabilities) ?? misuseOf(stepId, used);
      if (misuse !== undefined) throw misuse;
      used.add(stepId);
      const json = toJson(input, `the input of step \`${stepId}\``);
      const info = new Info(asking, key);
      const perform = (): EffectResult | Promise<EffectResult> => resultOf(() => fn(json, info), stepId);
      return asking.askFor(valueOf, key, { kind: "step", recovery, input: json }, json, perform) as Durable<never>;
    });
  };
};

const cleanUpMs = 10_000;

const onCancel = (asking: Asking): Steps["onCancel"] => {
  const { body, facts } = asking;
  const run = async (fn: (cleanUp: CleanUp) => unknown): Promise<void> => {
    try {
      await fn({ signal: body.signals.current() });
    } catch (thrown) {
      if (!body.isOver) facts.report(thrown); // Once its time is over, what it throws is ignored.
    }
  };
  return (fn, { deadlineMs = cleanUpMs } = {}) => {
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
};

export const steps = (asking: Asking): Steps => ({ runJson: runJson(asking), onCancel: onCancel(asking) });
