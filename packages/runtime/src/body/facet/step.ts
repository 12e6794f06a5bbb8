/**
 * Durable steps and clean-ups: work of the body's own. A step runs once per record and is answered from the record
 * afterwards. A clean-up runs when the call is cancelled.
 */
import { type EffectResult, type StepError, type StepRecovery, firstTry } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError, effectErrorOf, requireRule } from "../../error.ts";
import { type ArgsOf, type Given, type Schema, problemOfAnySchema } from "../../tool/argument.ts";
import { outputChecker } from "../../tool/check.ts";
import { keptError, keptValue, thrownBy, valueOfKept } from "../recorded-result.ts";
import type { Work } from "../record.ts";
import type { Try, TryTerms } from "../step-work.ts";
import { type LazySignal, withoutAbort } from "../stop.ts";
import { problemOfDurable } from "./capability.ts";
import { type Asking, toJson, valueOf } from "./facet.ts";
import { type Durable, refusing } from "./durable.ts";

/** Handed to a step's function. */
export interface StepInfo {
  /** The step's replay key: hand it to the outside service as idempotency key. */
  readonly key: string;
  /** Aborted by a cancel, unless the step was asked for after it; and when the time of this attempt is over. */
  readonly signal: AbortSignal;
  /** Counts the attempts at this step, from 1: more than one with `retry`. `ctx.attempt` counts those of the call. */
  readonly attempt: number;
  /**
   * Reads a secret of the session by its name. It is not on record, and where the result or the error of the step holds it,
   * `[secret NAME]` stands in its place.
   */
  readonly secret: (name: string) => Promise<string>;
}

export interface StepOptions<S = Schema<unknown>> {
  /**
   * Goes into the log beside the step. A run that asks for the step with another input than the log has diverges, so it
   * guards what the function takes from the body.
   */
  readonly input?: unknown;
  /** Decides for a step whose process dies while it runs: it runs again (`again`, `idempotent`), or not (`once`). */
  readonly recovery?: StepRecovery;
  /** Attempts the step again when it fails. The delay doubles with each try, up to `maxDelayMs`; a restart does not lose it. */
  readonly retry?: { readonly attempts: number; readonly firstDelayMs?: number; readonly maxDelayMs?: number };
  /** Aborts the signal of an attempt that takes longer; then it has failed as `step_timed_out`. */
  readonly timeoutMs?: number;
  /**
   * The schema of the result, as of a tool's. What it decodes the result to goes on record, and is what the body is given; a
   * result that does not fit fails the attempt as `invalid_step_output`.
   */
  readonly output?: S;
}

export interface CleanUp {
  /** Aborted when its time is over. */
  readonly signal: AbortSignal;
}

interface RunStep {
  <const S extends Schema<unknown>>(
    name: string,
    fn: (step: StepInfo) => Given<S> | Promise<Given<S>>,
    options: StepOptions<S> & { readonly output: S },
  ): Durable<ArgsOf<S>>;
  <A>(name: string, fn: (step: StepInfo) => A | Promise<A>, options?: StepOptions): Durable<A>;
}

export interface Steps {
  /** Runs `fn` once per record: a body that runs again is answered from the log. */
  readonly run: RunStep;
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
  readonly #signal: LazySignal;
  readonly attempt: number;

  constructor(asking: Asking, key: string, { number, signal }: Try) {
    this.#asking = asking;
    this.#key = key;
    this.#signal = signal;
    this.attempt = number;
  }
  get key(): string {
    return `${this.#asking.facts.base}:${this.#key}`;
  }
  get signal(): AbortSignal {
    return this.#signal.signal;
  }
  get secret(): StepInfo["secret"] {
    return (name) => this.#asking.secret(name);
  }
}

const isThenable = (u: unknown): u is PromiseLike<unknown> =>
  typeof u === "object" && u !== null && "then" in u && typeof u.then === "function";

/** How the outcome of a step goes into the log, and comes back. */
interface Keeping {
  readonly value: (value: unknown, what: string) => Json;
  readonly error: (error: StepError, thrown: unknown) => StepError;
  readonly read: (result: EffectResult) => unknown;
}

const asJson: Keeping = { value: toJson, error: (error) => error, read: valueOf };

const asValue: Keeping = {
  value: keptValue,
  error: keptError,
  read: (result) => {
    if (result.status === "ok") return valueOfKept(result.value);
    throw thrownBy(result.error);
  },
};

/** Runs a step's work. The result is there at once where the work returns no promise. */
const resultOf = (
  work: () => unknown,
  stepId: string,
  keeping: Keeping,
  asking: Asking,
): EffectResult | Promise<EffectResult> => {
  const succeeded = (value: unknown): EffectResult =>
    asking.shown({ status: "ok", value: keeping.value(value, `the result of step \`${stepId}\``) });
  const errorOf = (given: unknown): EffectResult => {
    const thrown = withoutAbort(given);
    const error = keeping.error(effectErrorOf(thrown, "durable_step_failed", EffectError), thrown);
    return asking.shown({ status: "err", error });
  };
  try {
    const returned = work();
    return isThenable(returned) ? Promise.resolve(returned).then(succeeded).catch(errorOf) : succeeded(returned);
  } catch (thrown) {
    return errorOf(thrown);
  }
};

const wrongOption = (stepId: string, wanted: string): EffectError =>
  new EffectError("durable_effect_step_options", `the options of step \`${stepId}\`: ${wanted}`);

const isCount = (found: number, least: number): boolean => Number.isSafeInteger(found) && found >= least;

/** Makes a step's function check its result. A schema is compiled where the function runs, and never for a repetition. */
export const checkedStep =
  (stepId: string, fn: (step: StepInfo) => unknown, output: Schema<unknown>) =>
  async (step: StepInfo): Promise<unknown> => {
    const problem = problemOfAnySchema(output);
    if (problem !== undefined) throw wrongOption(stepId, `\`output\` is no schema: ${problem}`);
    const checked = await outputChecker(output)(await fn(step));
    if (E.isRight(checked)) return checked.right;
    const message = `the result of step \`${stepId}\` does not fit its \`output\`: ${checked.left}`;
    throw new EffectError("invalid_step_output", message);
  };

const problemOfOptions = (stepId: string, { recovery, retry, timeoutMs }: StepOptions): EffectError | undefined => {
  if (retry !== undefined && recovery === "once")
    return wrongOption(stepId, '`retry` does not go with `recovery: "once"`, which allows one try');
  const { attempts = 1, firstDelayMs = 0, maxDelayMs = 0 } = retry ?? {};
  if (!isCount(attempts, 1)) return wrongOption(stepId, `\`retry.attempts\`: expected 1 or more, found ${attempts}`);
  if (!isCount(firstDelayMs, 0) || !isCount(maxDelayMs, 0))
    return wrongOption(stepId, `delays are whole milliseconds, found ${firstDelayMs} and ${maxDelayMs}`);
  if (timeoutMs !== undefined && !isCount(timeoutMs, 1))
    return wrongOption(stepId, `\`timeoutMs\`: expected 1 or more whole milliseconds, found ${timeoutMs}`);
  return undefined;
};

const firstDelay = 100;

/** Returns the terms of a step that is tried again or has a time of its own; throws what is wrong with them. */
const termsOf = ({ body, facts }: Asking, stepId: string, options: StepOptions): TryTerms | undefined => {
  const { recovery = "again", retry, timeoutMs } = options;
  if (retry === undefined && timeoutMs === undefined) return undefined;
  const { protocol } = facts.processApi.state().scope;
  requireRule(protocol, "step_retries", `step \`${stepId}\`: \`${retry === undefined ? "timeoutMs" : "retry"}\``);
  const problem = problemOfOptions(stepId, options);
  if (problem !== undefined) throw problem;
  const { attempts = 1, firstDelayMs = firstDelay, maxDelayMs = 0 } = retry ?? {};
  const terms = { attempts, firstDelayMs, maxDelayMs, recovery, signal: body.signals.current };
  return timeoutMs === undefined ? terms : { ...terms, timeoutMs };
};

/** Stands for the input of a step that has none. */
const noInput: Json = {};

const run = (asking: Asking): Steps["run"] => {
  const used = new Set<string>();
  const keeping = asking.facts.keepsValues ? asValue : asJson;
  return (stepId: string, fn: (step: StepInfo) => unknown, options: StepOptions = {}): Durable<never> => {
    const key = `durable-step:${stepId}`;
    return refusing(
      key,
      () => {
        const misuse = problemOfDurable(asking.facts.capabilities) ?? misuseOf(stepId, used);
        if (misuse !== undefined) throw misuse;
        const terms = termsOf(asking, stepId, options);
        used.add(stepId);
        const { input, output } = options;
        const work = output === undefined ? fn : checkedStep(stepId, fn, output);
        const json = input === undefined ? noInput : toJson(input, `the input of step \`${stepId}\``);
        const only = { number: firstTry, signal: asking.body.signals.current };
        const perform: Work = (tried = only) =>
          resultOf(() => work(new Info(asking, key, tried)), stepId, keeping, asking);
        const { recovery = "again" } = options;
        const effect = { kind: "step", recovery, input: json } as const;
        return asking.askFor(keeping.read, key, effect, json, perform, terms && { terms }) as Durable<never>;
      },
      asking.facts.failures,
    );
  };
};

const cleanUpMs = 10_000;

const onCancel = (asking: Asking): Steps["onCancel"] => {
  const { body, facts } = asking;
  const cleanUp = async (fn: (cleanUp: CleanUp) => unknown): Promise<void> => {
    try {
      await fn({ signal: body.signals.current.signal });
    } catch (thrown) {
      if (!body.isOver) facts.report(body.redaction?.thrown(thrown) ?? thrown); // Once its time is over, what it throws is ignored.
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
      () => body.cleanUps.run(() => cleanUp(fn), deadlineMs),
      () => undefined, // The run is over.
    );
  };
};

export const steps = (asking: Asking): Steps => ({ run: run(asking), onCancel: onCancel(asking) });
