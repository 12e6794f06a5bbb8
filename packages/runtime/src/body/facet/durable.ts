/**
 * Promises of durable effects. A body need not await one: its outcome is on record. So a rejection is always marked as
 * handled, and whether a body has looked at it is found out here instead: `await`, `then` and the combinators of `Promise`
 * all read the promise's constructor first. Reading it costs no turn and changes no order.
 */
import { EffectError, textOf } from "../../error.ts";
import { showOwnLines } from "../own-line.ts";

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
