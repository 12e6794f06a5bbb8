/**
 * The door to queues: their code is loaded once a tool has a limit, since few programs have one. Until then nothing is held, and no
 * call comes here.
 */
import type { CommandOf, State } from "@pawl/sansio-core";
import { queueOf } from "@pawl/sansio-core/driver";
import { Registry } from "../tool/registry.ts";
import type { RuntimeOptions } from "../runtime-options.ts";
import type { QueuePlaces, QueuePlacesPort } from "./queue-places.ts";
import type { ScopePort } from "./scope-places.ts";

type Options = Pick<RuntimeOptions, "journal" | "lease" | "instance" | "pollMs" | "tools">;
type Around = Pick<QueuePlacesPort, "platform" | "mayAsk" | "fault">;

const retryMs = 5000;

/** Tells whether a tool has a limit: then the code is loaded at once. */
const hasLimit = ({ tools }: Options): boolean =>
  tools instanceof Registry
    ? [...tools.lives].some(({ line }) => line !== undefined)
    : tools.some(({ limit }) => limit !== undefined);

export class QueueDoor {
  readonly #options: Options;
  readonly #around: Around;
  #places: QueuePlaces | undefined;
  #loading: Promise<QueuePlaces> | undefined;

  constructor(options: Options, around: Around) {
    this.#options = options;
    this.#around = around;
    if (hasLimit(options)) void this.#load();
  }

  /** Loads the code. A tab may be away from its network: it is tried again until it is there. */
  async #begin(): Promise<QueuePlaces> {
    for (;;) {
      try {
        const { queuePlaces } = await import("./queue-places.ts");
        return (this.#places = queuePlaces(this.#options, this.#around));
      } catch (thrown) {
        this.#around.fault("the code of queues could not be loaded", thrown);
        await new Promise<void>((resolve) => void this.#around.platform.later(retryMs, resolve));
      }
    }
  }

  #load(): Promise<QueuePlaces> {
    return (this.#loading ??= this.#begin());
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
