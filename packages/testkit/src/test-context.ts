/**
 * A `ctx` for unit tests of a body: no runtime, no store, no replay. What the body asks for is answered by a script, and
 * what it asked is listed. Steps run their functions, unless the script answers for them; sleeps are over at once, and
 * move the clock of `ctx.now()`. Whether a body survives crashes is for the explorers to say.
 */
import { EffectError, type StepInfo, type ToolContext, ToolFailed } from "@pawl/runtime";
import { type StepOptions, checkedStep, keptValue, valueOfKept } from "@pawl/runtime/driver";
import { type Json, errorOutput, lift, stableHash, successOutput } from "@pawl/tool-value";

/** An answer: a value, an error that is thrown, or a function that returns or throws it. */
export type Scripted<Of> = unknown | Error | ((of: Of) => unknown);

interface Answers<Of> {
  readonly [name: string]: Scripted<Of>;
}

export interface Script {
  /** Answers of steps, by their names. A step without one runs its function. */
  readonly run?: Answers<StepInfo>;
  /** Answers of the outside to waits, by their names. */
  readonly waitFor?: Answers<string>;
  /** Secrets that steps read, by their names. */
  readonly secrets?: { readonly [name: string]: string };
  /** Results of other tools, by their names. An error is a failure of the tool. */
  readonly call?: Answers<Json>;
  /** Decisions, by titles: `true`, or why not; a function is given the arguments. */
  readonly approve?: Answers<unknown>;
  /** Answers of the host, by the names of requests. */
  readonly host?: Answers<unknown>;
  /** The time at which the body starts. Default: the first of January 2026. */
  readonly now?: number;
  /** Members of `ctx` as the test wants them: `attempt`, `payload`, or one that the script does not speak of. */
  readonly more?: Partial<ToolContext>;
}

/** Something that a body asked for, by the name of the method. */
export interface Asked {
  readonly method: string;
  readonly name: string;
  readonly value?: unknown;
}

export interface TestContext {
  readonly ctx: ToolContext;
  /** All that the body asked for, in its order. */
  readonly asked: readonly Asked[];
  /** Cancels the call: the signal is aborted, and the clean-ups that were registered run. */
  readonly cancel: () => Promise<void>;
}

/** Rejects what comes after `ctx.continueAs`: the body begins anew with these arguments. */
export class Continued extends Error {
  override readonly name = "Continued";
  readonly args: unknown;
  constructor(args: unknown) {
    super("the body continues as another life of its call");
    this.args = args;
  }
}

const answerOf = async (answer: Scripted<never>, asked: unknown): Promise<unknown> => {
  if (answer instanceof Error) throw answer;
  return typeof answer === "function" ? (answer as (asked: unknown) => unknown)(asked) : answer;
};

const scripted = (answers: Answers<never> | undefined, method: string, name: string, asked: unknown) => {
  if (answers !== undefined && Object.hasOwn(answers, name)) return answerOf(answers[name] as never, asked);
  const known = Object.keys(answers ?? {}).map((one) => `\`${one}\``);
  const found = known.length === 0 ? "the script answers none" : `the script answers ${known.join(", ")}`;
  return Promise.reject(new Error(`ctx.${method}: nothing is scripted for \`${name}\`; ${found}`));
};

const defaultNow = Date.UTC(2026, 0, 1);
const nameOf = (tool: string | { readonly name: string }): string => (typeof tool === "string" ? tool : tool.name);

class Bench {
  readonly asked: Asked[] = [];
  readonly #script: Script;
  readonly #abort = new AbortController();
  readonly #cleanUps: ((of: { readonly signal: AbortSignal }) => unknown)[] = [];
  readonly #steps = new Set<string>();
  #now: number;
  #drawn = 0;

  constructor(script: Script) {
    this.#script = script;
    this.#now = script.now ?? defaultNow;
  }

  /** Notes what was asked, and gives its answer the key that `race` and its kin want. */
  #durable(asked: Asked, answer: () => Promise<unknown>): Promise<unknown> {
    this.asked.push(asked);
    const key = `${asked.method}:${asked.name}`;
    const promise = answer();
    promise.catch(() => undefined); // The body need not await it.
    return Object.assign(promise, { key });
  }

  async #step(name: string, fn: (info: StepInfo) => unknown, output: StepOptions["output"]): Promise<unknown> {
    if (this.#steps.has(name))
      throw new EffectError("durable_effect_duplicate_step_id", `step \`${name}\` was already used by this call`);
    this.#steps.add(name);
    const secret = async (of: string) => (await scripted(this.#script.secrets, "secret", of, of)) as string;
    const info = { key: `test:${name}`, signal: this.#abort.signal, attempt: 1, secret };
    const { run = {} } = this.#script;
    const work = Object.hasOwn(run, name) ? () => answerOf(run[name] as never, info) : fn;
    const result = await (output === undefined ? work : checkedStep(name, work, output))(info);
    return valueOfKept(keptValue(result, `the result of step \`${name}\``));
  }

  async #decision(title: string, args: unknown): Promise<unknown> {
    const said = await scripted(this.#script.approve, "approve", title, args);
    if (said === true) return { approved: true, args, by: "test" };
    return typeof said === "string" ? { approved: false, reason: said, by: "test" } : said;
  }

  async #reply(tool: string, args: unknown, label: string): Promise<unknown> {
    const of = { call: `test/${label}`, tool, label, args: (args ?? {}) as Json, durationMs: 0 };
    try {
      const value = await scripted(this.#script.call, "call", tool, args);
      return { ...of, output: successOutput(lift((value ?? null) as Json)) };
    } catch (thrown) {
      return { ...of, output: errorOutput(thrown instanceof Error ? thrown.message : String(thrown)) };
    }
  }

  async #call(tool: string, args: unknown): Promise<unknown> {
    const reply = (await this.#reply(tool, args, tool)) as ConstructorParameters<typeof ToolFailed>[0];
    const { outcome } = reply.output;
    if (outcome.status === "failure") throw new ToolFailed(reply, outcome.payload);
    return outcome.payload;
  }

  get #members(): { readonly [name: string]: unknown } {
    const { host, waitFor } = this.#script;
    return {
      run: (name: string, fn: (info: StepInfo) => unknown, { input, output }: StepOptions = {}) =>
        this.#durable({ method: "run", name, ...(input === undefined ? {} : { value: input }) }, () =>
          this.#step(name, fn, output),
        ),
      waitFor: (name: string) =>
        Object.assign(
          this.#durable({ method: "waitFor", name }, () => scripted(waitFor, "waitFor", name, name)),
          { token: `token:${name}` },
        ),
      token: (name: string) => `token:${name}`,
      approve: ({ title, args = {} }: { readonly title: string; readonly args?: unknown }) =>
        this.#durable({ method: "approve", name: title, value: args }, () => this.#decision(title, args)),
      call: (tool: string | { readonly name: string }, args: unknown) =>
        this.#durable({ method: "call", name: nameOf(tool), value: args }, () => this.#call(nameOf(tool), args)),
      callAll: (calls: readonly { readonly tool: string | { readonly name: string }; readonly args?: unknown }[]) =>
        this.#durable({ method: "callAll", name: calls.map(({ tool }) => nameOf(tool)).join(), value: calls }, () =>
          Promise.all(calls.map(({ tool, args }, i) => this.#reply(nameOf(tool), args, `${i + 1}`))),
        ),
      host: (name: string, input: unknown) =>
        this.#durable({ method: "host", name, value: input }, () => scripted(host, "host", name, input)),
      sleep: (ms: number) =>
        this.#durable({ method: "sleep", name: "", value: ms }, async () => void (this.#now += ms)),
      race: (members: readonly unknown[]) => Promise.race(members),
      any: (members: readonly unknown[]) => Promise.any(members),
      all: (members: readonly unknown[]) => Promise.all(members),
      allSettled: (members: readonly unknown[]) => Promise.allSettled(members),
      onCancel: (fn: (of: { readonly signal: AbortSignal }) => unknown) => void this.#cleanUps.push(fn),
      progress: (value: unknown) => void this.asked.push({ method: "progress", name: "", value }),
      continueAs: (args: unknown) =>
        this.#durable({ method: "continueAs", name: "", value: args }, () => Promise.reject(new Continued(args))),
      now: () => this.#now,
      random: () => Number.parseInt(stableHash(["random", (this.#drawn += 1)]).slice(0, 12), 16) / 2 ** 48,
      uuid: (name: string) => `00000000-0000-8000-8000-${stableHash(name).slice(0, 12)}`,
      patched: () => true,
      signal: this.#abort.signal,
      scope: "session:test",
      session: "test",
      attempt: 1,
      maxAttempts: 1,
      payload: null,
    };
  }

  /** Makes the context. A member that nobody speaks of is an error when it is read, with what to do. */
  context(): ToolContext {
    const members = { ...this.#members, ...this.#script.more };
    return new Proxy(members, {
      get: (from, name) => {
        if (typeof name !== "string" || Object.hasOwn(from, name)) return Reflect.get(from, name) as unknown;
        throw new Error(`ctx.${name} is not scripted: give it to \`testContext({ more: { ${name}: … } })\``);
      },
    }) as unknown as ToolContext;
  }

  async cancel(): Promise<void> {
    this.#abort.abort(new EffectError("cancelled", "the call was cancelled"));
    const { signal } = new AbortController();
    await Promise.all(this.#cleanUps.map(async (fn) => fn({ signal })));
  }
}

/** Makes a `ctx` with scripted answers. */
export const testContext = (script: Script = {}): TestContext => {
  const bench = new Bench(script);
  return { ctx: bench.context(), asked: bench.asked, cancel: () => bench.cancel() };
};
