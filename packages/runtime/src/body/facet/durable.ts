/**
 * Promises of durable effects. A body need not await one: its outcome is on record. So a rejection is always marked as
 * handled, and whether a body has looked at it is found out here instead: `await`, `then` and the combinators of `Promise`
 * all read the promise's constructor first. Reading it costs no turn and changes no order.
 *
 * The stack of an effect's error has the lines of the tool alone. The error is made where a step ends or an answer is
 * delivered, which is in the interpreter; the body that awaits it stands on no stack then. V8 can name it, though: an error
 * that is made in a reaction knows the async functions that wait for the promise of that reaction.
 *
 *   answer ──▶ a reaction takes the frames ──▶ the error is given them ──▶ the promise of the effect is rejected
 */
import { EffectError, textOf } from "../../error.ts";

/**
 * Begins the place of every file of the interpreter. In a page all may be one file, and a Worker's modules have no place: then
 * stacks are left as they are, since every line has the empty text.
 */
const home = /(?<home>[^\s()]*\/)body\/facet\/durable\.[jt]s/.exec(new Error().stack ?? "")?.groups?.["home"] ?? "";

const isFrame = (line: string): boolean => /^\s+at /.test(line);
const isOwn = (line: string): boolean => isFrame(line) && !line.includes(home) && !line.includes("node:");

/** Leaves the interpreter's frames out of the stack of an error, and adds others behind those that it has. */
export const showOwnLines = (thrown: unknown, more: readonly string[] = []): void => {
  if (!(thrown instanceof Error) || typeof thrown.stack !== "string") return;
  const lines = thrown.stack.split("\n");
  const begin = lines.findIndex(isFrame);
  const head = begin === -1 ? lines : lines.slice(0, begin);
  const own = lines.slice(head.length).filter(isOwn);
  const frames = [...own, ...more.filter((line) => !own.includes(line))];
  if (frames.length === 0) return;
  const value = [...head, ...frames].join("\n");
  Reflect.defineProperty(thrown, "stack", { configurable: true, writable: true, enumerable: false, value });
};

const ownFramesHere = (): readonly string[] => {
  const { stack = "" } = new Error();
  return stack.split("\n").filter(isOwn);
};

/** Rejects a promise with an error that names the lines of who waits for it. Calls `found` once it has them. */
export const rejectAt = (
  thrown: unknown,
  resolve: (none: never) => void,
  reject: (thrown: unknown) => void,
  found: () => void,
): Promise<void> =>
  Promise.resolve()
    .then((): never => {
      showOwnLines(thrown, ownFramesHere());
      found(); // V8 names nobody where two wait.
      throw thrown;
    })
    .then(resolve, reject); // These two themselves: it is by them that V8 finds who waits.

/** The promise of a durable effect. Its key lets `ctx.race` and its kin name it in the log. */
export interface Durable<A> extends Promise<A> {
  readonly key: string;
}

export class EffectPromise<A> extends Promise<A> implements Durable<A> {
  key = "";
  /** True once anybody has looked at it. */
  isHeard = false;
}
Object.defineProperty(EffectPromise.prototype, "constructor", {
  get(this: EffectPromise<unknown>) {
    this.isHeard = true;
    return Promise;
  },
});

const ignored = (): void => undefined;

/** Marks a promise as handled: a body need not await it, for its outcome is on record. */
export const handled = <A>(promise: Promise<A>): Promise<A> => {
  promise.catch(ignored);
  return promise;
};

/** Marks a promise as handled, though nobody has looked at it. */
export const unlooked = <A>(promise: EffectPromise<A>): EffectPromise<A> => {
  const { isHeard } = promise;
  promise.catch(ignored);
  promise.isHeard = isHeard;
  return promise;
};

/** Names a promise by the key of its effect, and marks it as handled. */
export const durable = <A>(key: string, promise: Promise<A>): Durable<A> => {
  (promise as { key?: string }).key = key;
  return handled(promise) as Durable<A>;
};

/** The failures of a run's effects, and which of them its function never looked at. */
export class Failures {
  readonly #all: { readonly promise: EffectPromise<unknown>; readonly thrown: unknown }[] = [];

  add(promise: EffectPromise<unknown>, thrown: unknown): void {
    this.#all.push({ promise, thrown });
  }

  /** Returns the key of the effect that failed with an error. */
  effectOf(thrown: unknown): string | undefined {
    return this.#all.findLast((failure) => failure.thrown === thrown)?.promise.key;
  }

  get unheard(): readonly { readonly effect: string; readonly code: string; readonly message: string }[] {
    return this.#all
      .filter(({ promise }) => !promise.isHeard)
      .map(({ promise, thrown }) => {
        const code = thrown instanceof EffectError ? thrown.code : "durable_step_failed";
        return { effect: promise.key, code, message: textOf(thrown) };
      });
  }
}

/** Turns what `ask` throws into a rejected promise, as an async function does. */
export const refusing = <A>(key: string, ask: () => Durable<A>, failures?: Failures): Durable<A> => {
  try {
    return ask();
  } catch (thrown) {
    showOwnLines(thrown);
    const refused = new EffectPromise<A>((_, reject) => reject(thrown));
    refused.key = key;
    failures?.add(refused, thrown);
    return unlooked(refused);
  }
};
