/** Those who wait for replies, by request. They wait on while their scope is out of memory. */
import type { CallRef, CommandOf } from "@pawl/sansio-core";
import type { ProcessApi } from "../body/facet/facet.ts";
import { Refused } from "../error.ts";
import type { InContext } from "../platform.ts";

/** The outcome of a request: replies of its calls, or the end of a flow. */
export type Replied = Pick<CommandOf<"reply">, "replies" | "triggers" | "flow" | "turn">;

/** A process that a call has started. */
export interface ProcessStarted {
  readonly call: string;
  readonly process: string;
  /** The name that the tool gives its start. */
  readonly name?: string;
}

/** Waits for the replies of a request. */
interface Waiter {
  /** The async context in which the request was made, if it was made by whoever waits. */
  readonly context?: InContext | undefined;
  readonly keep: boolean;
  readonly onProcessStarted?: ((started: ProcessStarted) => void) | undefined;
  readonly resolve: (replied: Replied) => void;
  readonly reject: (error: Error) => void;
}

/** Tells those who wait for a request, beside the host, of the processes that its calls start. */
export const telling = (callers: Callers, processApi: ProcessApi): ProcessApi => ({
  ...processApi,
  childStarted: (call, process, name) => {
    processApi.childStarted(call, process, name);
    const { request = "" } = processApi.state().calls.at(call as CallRef)?.call ?? {};
    callers.processStarted(request, { call, process, ...(name === undefined ? {} : { name }) });
  },
});

export class Callers {
  readonly #waiters = new Map<string, Waiter[]>();

  get isEmpty(): boolean {
    return this.#waiters.size === 0;
  }

  add(request: string, waiter: Waiter): void {
    this.#waiters.set(request, [...(this.#waiters.get(request) ?? []), waiter]);
  }

  /** Returns the context in which a request was made in this process, while its maker waits. */
  contextOf(request: string): InContext | undefined {
    return this.#waiters.get(request)?.find(({ context }) => context !== undefined)?.context;
  }

  /** Tells those who wait for a request that one of its calls has started a process. */
  processStarted(request: string, started: ProcessStarted): void {
    for (const { onProcessStarted } of this.#waiters.get(request) ?? []) onProcessStarted?.(started);
  }

  take(request: string): readonly Waiter[] {
    const waiters = this.#waiters.get(request) ?? [];
    this.#waiters.delete(request);
    return waiters;
  }

  leave(request: string, waiter: Waiter): void {
    const others = (this.#waiters.get(request) ?? []).filter((other) => other !== waiter);
    if (others.length > 0) this.#waiters.set(request, others);
    else this.#waiters.delete(request);
    waiter.reject(new Refused("waiter_gone", `nobody waits here for request \`${request}\` any more`));
  }

  abandon(error: Error): void {
    for (const waiters of this.#waiters.values()) for (const { reject } of waiters) reject(error);
    this.#waiters.clear();
  }
}
