/** Events whose values are on their way to the store: told when they are there, or told without them. */
import type { Event, Written } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { textOf } from "./error.ts";
import { withoutValue } from "./not-stored.ts";
import type { Referred } from "./values.ts";

/** The scope that tells them. */
export interface LateScope {
  readonly isLost: boolean;
  /** `kept`: the event as it is recorded. */
  readonly tell: (event: Event, kept?: Event) => unknown;
  readonly lose: (why: string) => void;
}

/** Why a value was not stored is not for those who hear of it. */
export type Fault = (what: string, thrown: unknown) => void;

/** `isLater`: it fits, and is stepped when its values are stored. */
export type Told = Written & { readonly isLater?: true };

export class LateEvents {
  readonly #scope: LateScope;
  readonly #fault: Fault;
  readonly #waiting = new Set<Promise<void>>();
  readonly #ended = Promise.withResolvers<void>();

  constructor(scope: LateScope, fault: Fault) {
    this.#scope = scope;
    this.#fault = fault;
  }

  /** Resolves when all that wait now are told, or will never be; undefined where none waits. */
  get over(): Promise<unknown> | undefined {
    return this.#waiting.size === 0 ? undefined : Promise.race([Promise.all(this.#waiting), this.#ended.promise]);
  }

  add(event: Event, { event: kept, kept: stored }: Referred, written: Written): E.Either<never, Told> {
    const told = stored.then(
      () => this.#tell(event, kept),
      (thrown: unknown) => this.#without(event, written.line.length, thrown),
    );
    const over: Promise<void> = told
      .catch((thrown: unknown) => this.#scope.lose(textOf(thrown)))
      .then(() => void this.#waiting.delete(over));
    this.#waiting.add(over);
    return E.right({ ...written, isLater: true });
  }

  /** Nobody hears of them any more. */
  end(): void {
    this.#waiting.clear();
    this.#ended.resolve();
  }

  #tell(event: Event, kept?: Event): void {
    if (!this.#scope.isLost) this.#scope.tell(event, kept);
  }

  #without(event: Event, characters: number, thrown: unknown): void {
    this.#fault(`a value of \`${event.type}\` was not stored`, thrown);
    const without = withoutValue(event, characters);
    if (without !== undefined) this.#tell(without);
  }
}
