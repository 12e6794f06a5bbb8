/**
 * How the facets of `ctx` ask for durable effects. Each effect has a key that repeats when the program repeats, so that
 * its record is found again: the n-th use of a name in a run has the n-th key of that name.
 */
import { type EffectResult, type EffectSpec, EffectSpecCodec } from "@pawl/sansio-core/driver";
import { type Json, describe, jsonFromJs, readOwned, record, stableHash, string, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { BodyRun } from "../body-run.ts";
import type { Answer, Request } from "../record.ts";
import { EffectError } from "../../error.ts";
import type { CallFacts } from "./facts.ts";

/** The promise of a durable effect. Its key lets `ctx.race` and its kin name it in the log. */
export interface Durable<A> extends Promise<A> {
  readonly key: string;
}

const ignored = (): void => undefined;

const keyed = <A>(key: string, promise: Promise<A>): Durable<A> => {
  (promise as { key?: string }).key = key;
  return promise as Durable<A>;
};

/** Marks a promise as handled: a body need not await it, for its outcome is on record. */
export const handled = <A>(promise: Promise<A>): Promise<A> => {
  promise.catch(ignored);
  return promise;
};

/** Names a promise by the key of its effect, and marks it as handled. */
export const durable = <A>(key: string, promise: Promise<A>): Durable<A> => keyed(key, handled(promise));

/** Turns what `ask` throws into a rejected promise, as an async function does. */
export const refusing = <A>(key: string, ask: () => Durable<A>): Durable<A> => {
  try {
    return ask();
  } catch (thrown) {
    return durable(key, Promise.reject<A>(thrown));
  }
};

export const toJson = (input: unknown, what: string): Json => {
  const json = jsonFromJs(input === undefined ? null : input);
  if (E.isLeft(json)) throw new EffectError("durable_effect_value", `${what}: ${describe(json.left)}`);
  return json.right;
};

export const valueOf = (result: EffectResult): Json => {
  if (result.status === "ok") return result.value;
  throw new EffectError(result.error.code, result.error.message);
};

const AskedFor = record<{ readonly key: string; readonly effect: EffectSpec }>("what is asked for", {
  key: string,
  effect: EffectSpecCodec,
});

/** Finds what the log could not give back of a request. The input of a step is JSON already and is left out. */
const problemOf = (key: string, effect: EffectSpec): EffectError | undefined => {
  const isStep = effect.kind === "step";
  if (isStep && effect.recovery === "again" && key.isWellFormed()) return undefined;
  const asked = { key, effect: isStep ? { ...effect, input: null } : effect };
  const fits = readOwned(AskedFor, asked as unknown as Json);
  return E.isRight(fits)
    ? undefined
    : new EffectError("durable_effect_value", `what a body asks for does not fit: ${describe(fits.left)}`);
};

/** One run of a body as its facets see it. */
export class Asking {
  readonly body: BodyRun;
  readonly facts: CallFacts;
  readonly #counts = new Map<string, number>();
  #hashed: { readonly text: string; readonly hash: string } | undefined;

  constructor(body: BodyRun, facts: CallFacts) {
    this.body = body;
    this.facts = facts;
  }

  /** Returns the key of the n-th use of a name within a run: the first is the name itself. */
  nextName(name: string): string {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  }

  /** Hashes a name that the body makes. A name is equal in later attempts as well, unless the attempt is given. */
  hashOfName(name: string, attempt = 1): string {
    return stableHash([this.facts.base, attempt, name]);
  }

  /** Hashes an input, and remembers the last: most effects of a body have the same one, null. */
  #hashOf(input: Json): string {
    const text = stringify(input);
    if (this.#hashed?.text !== text) this.#hashed = { text, hash: this.body.hash(text) };
    return this.#hashed.hash;
  }

  /** Asks for an effect. The hash of its input tells it from another under the same key. */
  ask(key: string, effect: EffectSpec, input: Json, perform?: Request["perform"]): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const problem = problemOf(key, effect);
      if (problem !== undefined) return reject(problem);
      this.body.request({ key, hash: this.#hashOf(input), effect, perform }, resolve, reject);
    });
  }

  /** Asks for an effect, and reads its answer with `read` before any other answer is delivered. */
  askFor<A>(
    read: (result: EffectResult) => A,
    key: string,
    effect: EffectSpec,
    input: Json,
    perform?: Request["perform"],
  ): Durable<A> {
    const { promise, resolve, reject } = Promise.withResolvers<A>();
    const refused = (thrown: unknown): void => {
      promise.catch(ignored);
      reject(thrown);
    };
    const told = ({ result }: Answer): void => {
      try {
        resolve(read(result));
      } catch (thrown) {
        refused(thrown);
      }
    };
    const problem = problemOf(key, effect);
    if (problem !== undefined) refused(problem);
    else this.body.request({ key, hash: this.#hashOf(input), effect, perform }, told, refused);
    return keyed(key, promise);
  }
}
