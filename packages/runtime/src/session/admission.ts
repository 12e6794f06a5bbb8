/**
 * How much a runtime takes on at a time. What does not fit is refused before anything is recorded, with a time after
 * which it may fit; joining what was taken is never refused. A request with more calls than ever fit is refused for good.
 */
import type { State } from "@pawl/sansio-core";
import { Overloaded, Refused } from "../error.ts";

export interface Bounds {
  /** Requests of one scope that are not answered yet. */
  readonly scopeRequests: number;
  /** Calls of one request. */
  readonly requestCalls: number;
  /** Calls of one scope that have not ended. */
  readonly scopeCalls: number;
  /** Events of one scope that wait for their commit. */
  readonly scopeUncommitted: number;
  /** Requests that are not answered yet, of all scopes in memory. */
  readonly requests: number;
  /** Characters of those requests, as they stand in the log. */
  readonly characters: number;
}

/** Bounds what a runtime takes on at a time, unless its options say otherwise. */
export const defaultBounds: Bounds = {
  scopeRequests: 10_000,
  requestCalls: 10_000,
  scopeCalls: 50_000,
  scopeUncommitted: 50_000,
  requests: 50_000,
  characters: 256 * 1024 * 1024,
};

/** Time after which a refused caller may try again: by then a commit is over. */
const retryAfterMs = 250;

/** Counts what a runtime has admitted, against its bounds. */
export class Admission {
  readonly #bounds: Bounds;
  #requests = 0;
  #characters = 0;

  constructor(bounds: Partial<Bounds> = {}) {
    this.#bounds = { ...defaultBounds, ...bounds };
  }

  refusal(state: State, uncommitted: number, calls: number): Overloaded | Refused | undefined {
    const bounds = this.#bounds;
    const most = Math.min(bounds.requestCalls, bounds.scopeCalls);
    if (calls > most) {
      const message = `a request has at most ${most} calls, found ${calls}: make several requests of them`;
      return new Refused("too_many_calls", message);
    }
    const refused = (what: string): Overloaded => new Overloaded(`${state.scope.id}: ${what}`, retryAfterMs);
    if (this.#requests >= bounds.requests)
      return refused(`${this.#requests} requests of this runtime are not answered`);
    if (this.#characters >= bounds.characters)
      return refused(`requests of ${this.#characters} characters are not answered`);
    if (uncommitted >= bounds.scopeUncommitted) return refused(`${uncommitted} events wait for their commit`);
    if (state.requests.size >= bounds.scopeRequests)
      return refused(`${state.requests.size} requests are not answered, or not acknowledged`);
    const { size } = state.calls;
    return size + calls > bounds.scopeCalls ? refused(`${size} calls have not ended`) : undefined;
  }

  enter(characters: number): void {
    this.#requests += 1;
    this.#characters += characters;
  }

  leave(characters: number): void {
    this.#requests -= 1;
    this.#characters -= characters;
  }
}

/** The requests that one scope in memory has in its runtime's admission. */
export class Admitted {
  readonly #admission: Admission;
  /** With the characters of each. */
  readonly #requests = new Map<string, number>();

  constructor(admission: Admission, state: State) {
    this.#admission = admission;
    for (const { request, phase } of state.requests.rows()) if (phase === "running") this.enter(request, 0);
  }

  enter(request: string, characters: number): void {
    this.#requests.set(request, characters);
    this.#admission.enter(characters);
  }

  leave(request: string): void {
    const characters = this.#requests.get(request);
    if (characters === undefined) return;
    this.#requests.delete(request);
    this.#admission.leave(characters);
  }

  leaveAll(): void {
    for (const request of this.#requests.keys()) this.leave(request);
  }
}
