/** Durable steps: work that is done once per record, and answered from it afterwards. */
import type { EffectResult, StepRecovery } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { withoutAbort } from "../abort-error.ts";
import { EffectError, failureOf } from "../../error.ts";
import { problemOfDurable } from "../capabilities.ts";
import { type Asking, type Durable, refusing, toJson, valueOf } from "./asking.ts";

/** What a step's function is handed besides its input. */
export interface StepInfo {
  /** The step's replay key: hand it to the outside service as idempotency key. */
  readonly key: string;
  /** Aborted by a cancel, unless the step was asked for after it. */
  readonly signal: AbortSignal;
  readonly attempt: number;
}

export interface Steps {
  /** Runs `fn` once per record: a body that runs again is answered from the log. */
  readonly runJson: <A>(
    stepId: string,
    input: unknown,
    fn: (input: Json, info: StepInfo) => A | Promise<A>,
    options?: { readonly recovery?: StepRecovery },
  ) => Durable<A>;
}

const errorOf = (thrown: unknown): EffectResult => failureOf(withoutAbort(thrown), "durable_step_failed", EffectError);

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
    return this.#asking.body.id.attempt;
  }
}

const isThenable = (u: unknown): u is PromiseLike<unknown> =>
  typeof u === "object" && u !== null && "then" in u && typeof u.then === "function";

/** What work came to; at once, where it is no promise. */
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

export const steps = (asking: Asking): Steps => {
  const { facts } = asking;
  const used = new Set<string>();

  const runJson: Steps["runJson"] = (stepId, input, fn, { recovery = "again" } = {}) => {
    const key = `durable-step:${stepId}`;
    return refusing(key, () => {
      const misuse = problemOfDurable(facts.capabilities) ?? misuseOf(stepId, used);
      if (misuse !== undefined) throw misuse;
      used.add(stepId);
      const json = toJson(input, `the input of step \`${stepId}\``);
      const info = new Info(asking, key);
      const perform = (): EffectResult | Promise<EffectResult> => resultOf(() => fn(json, info), stepId);
      return asking.askFor(valueOf, key, { kind: "step", recovery, input: json }, json, perform) as Durable<never>;
    });
  };
  return { runJson };
};
