/**
 * Watches tools. Each step, and each body that runs at most once, is an effect with a moment before and after it. A
 * body may wait only for its context, and a step for the scenario's outside; anything else leaves the simulated world
 * and is reported.
 */
import type { Durable, StepInfo, ToolContext, ToolDefinition } from "@pawl/runtime";
import { type StepOptions, coreToolOf } from "@pawl/runtime/driver";
import { recoveryOf } from "@pawl/sansio-core/driver";
import type { Arrival } from "./gate.ts";
import type { Claim } from "./scenario.ts";

/** The world around an effect. */
export interface Around {
  readonly before: (effect: string) => Promise<void>;
  readonly after: (effect: string) => Promise<void>;
  readonly claim: (effect: string, claim: Claim) => void;
  /** Waits until the end of an effect may be reported. */
  readonly arrive: (arrival: Arrival) => Promise<void>;
}

/** The running code: a tool's body, or one of its steps. */
export interface Doer {
  readonly tool: string;
  readonly step?: string;
}

/** Running code, and what it waits for. */
export class Work {
  readonly what: string;
  readonly doer: Doer;
  /** Its last request, and the source line. */
  asked: string | undefined;
  #open = 0;
  #isOver = false;
  /** The code has read the abort signal, so it may continue without an answer. */
  isSignalled = false;
  /** May wait for the outside: a step, or a body that is not durable. */
  readonly mayGoOut: boolean;

  constructor(what: string, doer: Doer, mayGoOut: boolean) {
    this.what = what;
    this.doer = doer;
    this.mayGoOut = mayGoOut;
  }

  /** Waits for something that this world cannot provide. */
  get isAdrift(): boolean {
    return !this.#isOver && this.#open === 0 && !this.isSignalled;
  }

  end(): void {
    this.#isOver = true;
  }

  /** Adds a promise to wait for; `goesOn` is called before the code continues. */
  waitFor(promise: PromiseLike<unknown>, goesOn: () => void): void {
    this.#open += 1;
    const settled = (): void => {
      this.#open -= 1;
      goesOn();
    };
    promise.then(settled, settled);
  }
}

const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";

/** Returns the line of the tool's own code in a stack trace. */
const placeIn = (stack: string | undefined): string => {
  const lines = (stack ?? "").split("\n").slice(1);
  const own = lines.find((line) => !/testkit\/(?:src|dist)|runtime\/(?:src|dist)|node:internal/.test(line));
  return own?.trim().replace(/^at /, "") ?? "a place unknown";
};

/**
 * Returns the arrival of an effect's end. The call is taken from its key, `lash-tool:{scope}/{request}:{call}:{tool}`.
 */
const endOf = (effect: string, { replayKey, scope }: ToolContext): Arrival => {
  const ofCall = replayKey.slice(`lash-tool:${scope}/`.length, replayKey.lastIndexOf(":"));
  const path = ofCall.replaceAll(/tool-batch:([0-9a-f]{4})[0-9a-f]*/g, "$1");
  return { label: `end of ${effect} (${scope === "session:s" ? "" : `${scope} `}${path})` };
};

type Recovery = "idempotent" | "again" | "once";
const claimOfStep: { readonly [R in Recovery]: Claim } = {
  idempotent: "at_least_once",
  again: "at_least_once",
  once: "at_most_once",
};

export class Watch {
  readonly #around: Around;
  readonly #work = new Set<Work>();
  /** The code that runs now: the last one started or answered. */
  #doer: Doer | undefined;

  constructor(around: Around) {
    this.#around = around;
  }

  /** Runs a request of a tool to the outside, and restores the running code afterwards. */
  ofTool<A>(ask: (doer: Doer | undefined) => Promise<A>): Promise<A> {
    const doer = this.#doer;
    const answer = ask(doer);
    const goesOn = (): void => void (this.#doer = doer);
    answer.then(goesOn, goesOn);
    return answer;
  }

  /** Returns code that has left the world. `isBusy`: the outside still owes somebody an answer. */
  adrift(isBusy: boolean): Work | undefined {
    return [...this.#work].find((work) => work.isAdrift && !(isBusy && work.mayGoOut));
  }

  tool(tool: ToolDefinition): ToolDefinition {
    const manifest = coreToolOf(tool);
    const isOnce = recoveryOf(manifest) === "owner_bound";
    const effect = `tool ${tool.name}`;
    if (isOnce) this.#around.claim(effect, "at_most_once");
    const watched = async (context: ToolContext, run: (context: ToolContext) => unknown): Promise<unknown> => {
      if (isOnce) await this.#around.before(effect);
      const what = `tool \`${tool.name}\` (call \`${context.toolCallId}\`)`;
      const work = this.#begin(what, { tool: tool.name }, !manifest.durable);
      const result = await this.#ended(work, async () => run(this.#context(tool, context, work)));
      if (!isOnce) return result;
      await this.#around.after(effect);
      await this.#around.arrive(endOf(effect, context));
      return result;
    };
    const { background } = tool;
    return {
      ...tool,
      execute: (args, context) => watched(context, (own) => tool.execute(args, own)),
      ...(background && {
        background: (args, context, sink) => watched(context, (own) => background(args, own, sink)),
      }),
    };
  }

  #begin(what: string, doer: Doer, mayGoOut: boolean): Work {
    const work = new Work(what, doer, mayGoOut);
    this.#work.add(work);
    return work;
  }

  async #ended<A>(work: Work, run: () => Promise<A>): Promise<A> {
    this.#doer = work.doer;
    try {
      return await run();
    } finally {
      work.end();
      this.#work.delete(work);
    }
  }

  #context(tool: ToolDefinition, context: ToolContext, work: Work): ToolContext {
    const steps = new Map<string, { readonly effect: string; readonly claim: Claim }>();
    const run = <A>(stepId: string, fn: (info: StepInfo) => A | Promise<A>, options: StepOptions = {}): Durable<A> => {
      const effect = `step ${tool.name}/${stepId}`;
      const claim = claimOfStep[options.recovery ?? "again"];
      this.#around.claim(effect, claim);
      const step = async (info: StepInfo) =>
        this.#step(effect, { tool: tool.name, step: stepId }, context, async () => fn(info));
      const answer = context.run(stepId, step, options);
      steps.set(answer.key, { effect, claim });
      return answer;
    };
    const chosenBy =
      (mode: "race" | "any"): ToolContext["race"] =>
      (members) => {
        for (const { key } of members) this.#maybeLeft(steps.get(key));
        return context[mode](members);
      };
    const stream: ToolContext["stream"] = (name, source, options = {}) => {
      const effect = `stream ${tool.name}/${name}`;
      this.#around.claim(effect, "at_least_once");
      const doer = { tool: tool.name, step: name };
      return context.stream(name, (info) => this.#producer(effect, doer, context, () => source(info)), options);
    };
    return this.#face(context, work, { run, stream, race: chosenBy("race"), any: chosenBy("any") }) as ToolContext;
  }

  /** Relaxes the claim of a step in a choice (`race`, `any`): it need not happen. */
  #maybeLeft(step: { readonly effect: string; readonly claim: Claim } | undefined): void {
    if (step?.claim === "at_least_once") this.#around.claim(step.effect, "any");
  }

  async #step<A>(effect: string, doer: Doer, context: ToolContext, fn: () => Promise<A>): Promise<A> {
    await this.#around.before(effect);
    const work = this.#begin(`step \`${effect.slice("step ".length)}\``, doer, true);
    const result = await this.#ended(work, fn);
    await this.#around.after(effect);
    await this.#around.arrive(endOf(effect, context));
    return result;
  }

  async *#producer<A>(
    effect: string,
    doer: Doer,
    context: ToolContext,
    source: () => AsyncIterable<A> | Iterable<A>,
  ): AsyncGenerator<A> {
    await this.#around.before(effect);
    const work = this.#begin(`stream \`${effect.slice("stream ".length)}\``, doer, true);
    this.#doer = doer;
    try {
      yield* source();
    } finally {
      work.end();
      this.#work.delete(work);
    }
    await this.#around.after(effect);
    await this.#around.arrive(endOf(effect, context));
  }

  /** Wraps an object so that all of its promises are watched. */
  #face(target: object, work: Work, own: { readonly [name: string]: unknown } = {}): object {
    return new Proxy(target, {
      get: (_target, name) => {
        if (name === "signal") work.isSignalled = true;
        const value: unknown = (typeof name === "string" ? own[name] : undefined) ?? Reflect.get(target, name);
        if (typeof value === "function")
          return this.#asked(String(name), value as (...args: unknown[]) => unknown, target, work);
        const isFacet = typeof value === "object" && value !== null && name !== "signal" && !Array.isArray(value);
        return isFacet && name !== "payload" ? this.#face(value, work) : value;
      },
    });
  }

  #asked(name: string, ask: (...args: unknown[]) => unknown, target: object, work: Work) {
    return (...args: unknown[]): unknown => {
      const answer: unknown = Reflect.apply(ask, target, args);
      if (!isPromise(answer)) return answer;
      work.asked = `\`ctx.${name}\` at ${placeIn(new Error("here").stack)}`;
      work.waitFor(answer, () => void (this.#doer = work.doer));
      return answer;
    };
  }
}
