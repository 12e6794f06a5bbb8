/** A context that performs nothing: steps never start, and requests are only recorded. */
import type { ToolContext } from "@pawl/runtime";
import type { Recorded } from "@pawl/sansio-core";
import type { EffectSpec } from "@pawl/sansio-core/driver";

const maxLength = 100;
const shorten = (text: string): string => (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);

const jsonText = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? String(part) : part));

interface Called {
  readonly id: string;
  readonly tool: string;
  readonly args: unknown;
}

const callsText = (calls: readonly Called[]): string =>
  calls.map(({ id, tool, args }) => `${id}: ${tool} ${jsonText(args)}`).join(", ");

const effectText = (effect: EffectSpec): string | undefined => {
  switch (effect.kind) {
    case "sleep":
      return `${effect.ms} ms`;
    case "batch":
      return callsText(effect.calls);
    case "step":
    case "host":
      return jsonText(effect.input);
    default:
      return undefined;
  }
};

type AskedCall = Parameters<ToolContext["callAll"]>[0][number];

/** Names a call that a body asks for as its record does. */
const calledOf = ({ tool, label, args = {} }: AskedCall): Called => {
  const name = typeof tool === "string" ? tool.replace(/^tool:/, "") : tool.name;
  const id = typeof tool === "string" ? undefined : tool.id;
  return { id: label ?? name, tool: id ?? `tool:${name}`, args };
};

/** Describes the arguments of a context method, if they are short enough to tell apart. */
const argumentsText = (method: string, args: readonly unknown[]): string | undefined => {
  const [first, second, options] = args;
  switch (method) {
    case "call":
      return callsText([
        calledOf({ tool: first as AskedCall["tool"], args: second, ...(options as object | undefined) }),
      ]);
    case "callAll":
      return callsText((first as readonly AskedCall[]).map(calledOf));
    case "sleep":
      return `${String(first)} ms`;
    case "run":
      return jsonText((options as Parameters<ToolContext["run"]>[2])?.input ?? {});
    default:
      return undefined;
  }
};

/** Returns undefined if the arguments cannot be described, as with values that are no JSON. */
export const askedText = (method: string, args: readonly unknown[]): string | undefined => {
  try {
    const text = argumentsText(method, args);
    return text === undefined ? undefined : shorten(text);
  } catch {
    return undefined;
  }
};

/** Returns the request recorded under a key of a call; of several attempts, the last one's. */
export type RecordedText = (call: string, key: string) => string | undefined;

export const recordedTexts =
  (events: readonly Recorded[]): RecordedText =>
  (call, key) => {
    for (const { event } of events.toReversed()) {
      if (event.type !== "effect.requested" || event.call !== call || event.key !== key) continue;
      const text = effectText(event.effect);
      return text === undefined ? undefined : shorten(text);
    }
    return undefined;
  };

/** Records the requests that a body makes. */
export class Watch {
  readonly keys = new Set<string>();
  /** The answers of `ctx.patched`, by name. */
  readonly patches = new Map<string, boolean>();
  /** A short text of each request, if there is one. */
  readonly texts = new Map<string, string>();
  #unanswered = 0;

  /** The number of requests without an answer. */
  get unanswered(): number {
    return this.#unanswered;
  }

  look<A>(returned: A, method: string, args: readonly unknown[]): A {
    if (method === "patched" && typeof returned === "boolean") this.patches.set(String(args[0]), returned);
    if (!(returned instanceof Promise)) return returned;
    if ("key" in returned && typeof returned.key === "string") this.#see(returned.key, askedText(method, args));
    this.#unanswered += 1;
    const answered = (): void => void (this.#unanswered -= 1);
    returned.then(answered, answered);
    return returned;
  }

  #see(key: string, text: string | undefined): void {
    this.keys.add(key);
    if (text !== undefined) this.texts.set(key, text);
  }
}

const never = (): Promise<never> => new Promise(() => undefined);

const isFacet = (member: unknown): member is object =>
  typeof member === "object" && member !== null && Object.getPrototypeOf(member) === Object.prototype;

const idle = <A extends object>(target: A, watch: Watch): A =>
  new Proxy(target, {
    get: (from, name) => {
      const member: unknown = Reflect.get(from, name);
      if (isFacet(member)) return idle(member, watch);
      if (typeof member !== "function") return member;
      return (...args: readonly unknown[]): unknown => {
        const idleArgs = args.map((arg) => (typeof arg === "function" ? never : arg));
        return watch.look(Reflect.apply(member, from, idleArgs) as unknown, String(name), args);
      };
    },
  });

export const idleContext = (context: ToolContext, watch: Watch): ToolContext => idle(context, watch);
