/**
 * `durableTelemetry`: the SDK's telemetry, told of each answer once. A body that runs again runs the SDK's loop again, and the
 * loop tells its integrations of all that it does. Here what begins is held until it is known to be no repetition:
 *
 *   the loop begins …            held
 *     an answer from the log     nobody is told of it
 *     an answer is asked for     all that it is part of begins: the operation, its step, the model's call
 *   … ends                       told where its beginning was
 *
 * So an operation of which all is on record makes no span. One that goes on after a crash makes a span in its new process, and
 * spans for what is done there.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ToolContext } from "@pawl/runtime";
import { isRepeating } from "@pawl/runtime/driver";

/** Durable work within something that telemetry tells of. */
interface Told {
  /** Does what is no repetition. */
  readonly live: <A>(work: () => PromiseLike<A>) => Promise<A>;
  /** Says that it was answered from the log. */
  readonly repeated: () => void;
}

const untold: Told = { live: async (work) => work(), repeated: () => undefined };
const telling = new AsyncLocalStorage<Told>();

/** Does a step of the log, and lets telemetry know whether its work is done now. */
export const told = async <A>(step: (live: Told["live"]) => PromiseLike<A>): Promise<A> => {
  const { live, repeated } = telling.getStore() ?? untold;
  let isLive = false;
  const result = await step((work) => {
    isLive = true;
    return telling.exit(() => live(work));
  });
  if (!isLive) repeated();
  return result;
};

type Kind = "operation" | "step" | "model" | "tool" | "embed";
interface Event {
  readonly callId?: string;
  readonly embedCallId?: string;
  readonly toolCall?: { readonly toolCallId: string };
  readonly timestamp?: number;
}
type Hook = (event: Event) => unknown;
type Execute = (options: Event & { readonly execute: () => PromiseLike<unknown> }) => PromiseLike<unknown>;

const starts: { readonly [hook: string]: Kind } = {
  onStart: "operation",
  onStepStart: "step",
  onObjectStepStart: "step",
  onLanguageModelCallStart: "model",
  onToolExecutionStart: "tool",
  onEmbedStart: "embed",
};
const ends: { readonly [hook: string]: Kind } = {
  onEnd: "operation",
  onAbort: "operation",
  onError: "operation",
  onStepEnd: "step",
  onStepFinish: "step",
  onStepError: "step",
  onObjectStepEnd: "step",
  onLanguageModelCallEnd: "model",
  onToolExecutionEnd: "tool",
  onEmbedEnd: "embed",
};
const executes: { readonly [hook: string]: Kind } = { executeLanguageModelCall: "model", executeTool: "tool" };
const parents: { readonly [kind in Kind]?: Kind } = {
  step: "operation",
  model: "step",
  tool: "step",
  embed: "operation",
};

const named = <A>(
  kinds: { readonly [hook: string]: Kind },
  hook: (name: string, kind: Kind) => A,
): readonly (readonly [string, A])[] => Object.entries(kinds).map(([name, kind]) => [name, hook(name, kind)]);

/** A part of an operation, whose beginning is held until something is done in it. */
class Part {
  readonly #parent: Part | undefined;
  #start: (() => unknown) | undefined;
  #isRepetition = false;

  constructor(parent: Part | undefined, start: () => unknown) {
    this.#parent = parent;
    this.#start = start;
  }

  async begin(): Promise<void> {
    await this.#parent?.begin();
    const start = this.#start;
    this.#start = undefined;
    await start?.();
  }

  repeated(): void {
    this.#isRepetition = true;
    this.#parent?.repeated();
  }

  /** True where all of it came from the log. */
  get isRepetition(): boolean {
    return this.#isRepetition && this.#start !== undefined;
  }
}

/** An integration of the SDK, and the parts of the operations that it is told of. */
class Integration {
  readonly #of: { readonly [hook: string]: unknown };
  readonly #ctx: object;
  readonly #parts = new Map<string, Part>();

  constructor(of: object, ctx: object) {
    this.#of = of as { readonly [hook: string]: unknown };
    this.#ctx = ctx;
  }

  #keyOf(kind: Kind, { callId = "", toolCall, embedCallId }: Event): string {
    const own = kind === "tool" ? toolCall?.toolCallId : kind === "embed" ? embedCallId : undefined;
    return JSON.stringify([callId, kind, own]);
  }

  #part(kind: Kind | undefined, event: Event): Part | undefined {
    return kind && (this.#parts.get(this.#keyOf(kind, event)) ?? this.#part(parents[kind], event));
  }

  #tell(name: string, event: Event): unknown {
    return (this.#of[name] as Hook | undefined)?.call(this.#of, event);
  }

  #started(name: string, kind: Kind, event: Event): void {
    const at = { timestamp: event.timestamp ?? Date.now() };
    const dated = Object.assign(Object.create(Object.getPrototypeOf(event) as object) as Event, event, at);
    const part = new Part(this.#part(parents[kind], event), () => this.#tell(name, dated));
    this.#parts.set(this.#keyOf(kind, event), part);
    if (kind === "embed" && isRepeating(this.#ctx)) part.repeated();
  }

  async #ended(name: string, kind: Kind, event: Event): Promise<void> {
    const part = this.#part(kind, event);
    if (part?.isRepetition === true) return;
    await part?.begin();
    await this.#tell(name, event);
  }

  #executed(name: string, kind: Kind, { execute, ...event }: Parameters<Execute>[0]): PromiseLike<unknown> {
    const part = this.#part(kind, event);
    const outer = telling.getStore() ?? untold;
    const live: Told["live"] = async (work) => {
      await part?.begin();
      const within = this.#of[name] as Execute | undefined;
      if (within === undefined) return work();
      return (await within.call(this.#of, { ...event, execute: work })) as Awaited<ReturnType<typeof work>>;
    };
    const repeated = (): void => {
      part?.repeated();
      outer.repeated();
    };
    return telling.run({ live: (work) => outer.live(() => live(work)), repeated }, execute);
  }

  /** Returns it as the SDK is given it. */
  get hooks(): object {
    const isTold = ([name]: readonly [string, unknown]): boolean => typeof this.#of[name] === "function";
    const own = Object.fromEntries([
      ...named(starts, (name, kind) => (event: Event) => this.#started(name, kind, event)),
      ...named(ends, (name, kind) => (event: Event) => this.#ended(name, kind, event)).filter(isTold),
      ...named(executes, (name, kind) => (options: Parameters<Execute>[0]) => this.#executed(name, kind, options)),
    ]) as { readonly [hook: string]: unknown };
    return new Proxy(this.#of, {
      get: (of, name) => {
        if (typeof name === "string" && name in own) return own[name];
        const other: unknown = Reflect.get(of, name, of);
        return typeof other === "function" ? (other.bind(of) as unknown) : other;
      },
    });
  }
}

interface WithIntegrations {
  readonly integrations?: object | readonly object[];
}

const given = ({ integrations }: WithIntegrations): readonly object[] => {
  const registered = (globalThis as { readonly AI_SDK_TELEMETRY_INTEGRATIONS?: readonly object[] })
    .AI_SDK_TELEMETRY_INTEGRATIONS;
  const found = integrations ?? registered ?? [];
  return Array.isArray(found) ? found : [found];
};

/**
 * Returns the `telemetry` of a call of the SDK in a durable body, in version 7: its integrations, or those that are
 * registered, are not told again of what is on record.
 */
export const durableTelemetry = <Options extends object = object>(
  ctx: Pick<ToolContext, "run">,
  options?: Options,
): Options & { readonly integrations: never[] } => {
  const integrations = given(options ?? {}).map((one) => new Integration(one, ctx).hooks as never);
  return { ...(options as Options), integrations };
};
