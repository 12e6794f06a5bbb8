/** A context that performs nothing: whatever work it is handed never begins, and what it promises is watched. */
import type { ToolContext } from "@pawl/runtime";
import { askedText } from "./asked.ts";

/** What a body asked of its context. */
export class Watch {
  readonly keys = new Set<string>();
  /** What was asked for under a key, where that can be told. */
  readonly texts = new Map<string, string>();
  #unanswered = 0;

  /** Requests that have no answer yet. */
  get unanswered(): number {
    return this.#unanswered;
  }

  look<A>(returned: A, method: string, args: readonly unknown[]): A {
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
