/** Events whose values are on their way to the store: told when they are there, or told without them. */
import type { Event, Rejection, State, Written } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { textOf } from "../error.ts";
import type { Offloaded } from "./values.ts";
import { withoutValue } from "./without-value.ts";

/** The scope that tells them. */
export interface DeferringScope {
  readonly isAbandoned: boolean;
  readonly state: State;
  /** `storedForm`: the event as it is recorded. */
  readonly apply: (event: Event, storedForm?: Event) => E.Either<Rejection, Told>;
  readonly abandon: (why: string) => void;
}

/** Why a value was not stored is not for those who hear of it. */
export type Fault = (what: string, thrown: unknown) => void;

/** `later`: it fits, and is stepped when its values are stored; what it came to then, if anything was told. */
export type Told = Written & { readonly later?: Promise<E.Either<Rejection, Told> | undefined> };

export class DeferredEvents {
  readonly #scope: DeferringScope;
  readonly #fault: Fault;
  readonly #waiting = new Set<Promise<void>>();
  #over: PromiseWithResolvers<void> | undefined;

  constructor(scope: DeferringScope, fault: Fault) {
    this.#scope = scope;
    this.#fault = fault;
  }

  /** Resolves when none waits any more: all are told, or will never be; undefined where none waits. */
  get over(): Promise<void> | undefined {
    if (this.#waiting.size === 0) return undefined;
    this.#over ??= Promise.withResolvers();
    return this.#over.promise;
  }

  add(event: Event, { event: storedForm, stored }: Offloaded, written: Written): E.Either<never, Told> {
    const later = stored
      .then(
        () => this.#apply(event, storedForm),
        (thrown: unknown) => this.#without(event, written.line.length, thrown),
      )
      .catch((thrown: unknown) => void this.#scope.abandon(textOf(thrown)));
    const over: Promise<void> = later.then(() => this.#told(over));
    this.#waiting.add(over);
    return E.right({ ...written, later });
  }

  /** Nobody hears of them any more. */
  end(): void {
    this.#waiting.clear();
    this.#none();
  }

  #told(one: Promise<void>): void {
    this.#waiting.delete(one);
    if (this.#waiting.size === 0) this.#none();
  }

  #none(): void {
    this.#over?.resolve();
    this.#over = undefined;
  }

  #apply(event: Event, storedForm?: Event): E.Either<Rejection, Told> | undefined {
    return this.#scope.isAbandoned ? undefined : this.#scope.apply(event, storedForm);
  }

  #without(event: Event, characters: number, thrown: unknown): E.Either<Rejection, Told> | undefined {
    this.#fault(`a value of \`${event.type}\` was not stored`, thrown);
    const without = withoutValue(event, characters, this.#scope.state);
    return without === undefined ? undefined : this.#apply(without);
  }
}
