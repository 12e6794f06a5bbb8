/**
 * The door to queues: their code is loaded when the first call of a tool with a limit waits, since few programs have one. Until
 * then nothing is held, and no call of another tool comes here.
 */
import type { CommandOf, State } from "@pawl/sansio-core";
import { queueOf } from "@pawl/sansio-core/driver";
import type { RuntimeOptions } from "../runtime-options.ts";
import type { QueuePlaces, QueuePlacesPort } from "./queue-places.ts";
import type { ScopePort } from "./scope-places.ts";

type Around = Pick<QueuePlacesPort, "platform" | "mayAsk" | "fault">;

export class QueueDoor {
  readonly #options: RuntimeOptions;
  readonly #around: Around;
  #places: QueuePlaces | undefined;
  #loading: Promise<QueuePlaces> | undefined;

  constructor(options: RuntimeOptions, around: Around) {
    this.#options = options;
    this.#around = around;
  }

  #load(): Promise<QueuePlaces> {
    this.#loading ??= import("./queue-places.ts").then(({ queuePlaces }) => {
      this.#places = queuePlaces(this.#options, this.#around);
      return this.#places;
    });
    return this.#loading;
  }

  /** Records the place of a call that is to begin, once the store has one. */
  async take(scope: ScopePort, command: CommandOf<"place.take">): Promise<void> {
    await (await this.#load()).of(scope).take(command);
  }

  /** Starts a body: a later run of a tool with a queue once it has a place again. A call that cleans up needs none. */
  start(scope: ScopePort, command: CommandOf<"tool.execute">, begin: () => Promise<void>): Promise<void> {
    const { call, cause } = command;
    const row = scope.runner.state.calls.at(call);
    if (cause === undefined || cause === "cancelled" || row === undefined || queueOf(row) === undefined) return begin();
    return this.#load().then((places) => places.of(scope).start(command, begin));
  }

  stepped(state: State): void {
    this.#places?.stepped(state);
  }

  forget(scope: string): void {
    this.#places?.forget(scope);
  }

  lost(): void {
    this.#places?.lost();
  }

  readonly wake = (): void => this.#places?.wake();
}
