/**
 * Requests to the host. A body asks for something, and the host's answer is recorded. A cancelled call asks for the end of
 * the work that it began outside, and repeats that until the host acknowledges it.
 */
import type { CommandOf, Event, State } from "@pawl/sansio-core";
import type { EffectResult } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { jsonOf } from "../tool/argument.ts";
import { failureOf } from "../error.ts";
import { emitTo } from "./trigger.ts";
import type { Platform } from "../platform.ts";
import { type HostAsked, type HostPort, type Place, type ToolHost, placeOf, report } from "./host.ts";

export type HostRequest = CommandOf<"host.request">;
type Asked = Pick<HostRequest, "call" | "key" | "name" | "input">;

export const triggerRequest = "trigger.emit";

/** Reads what a host returned; undefined becomes null, as that of a body does. */
export const answered = (name: string, returned: unknown): EffectResult => {
  const value = jsonOf(returned === undefined ? null : returned);
  if (E.isRight(value)) return { status: "ok", value: value.right };
  return { status: "err", error: { code: "host_answer_invalid", message: `the answer to \`${name}\`: ${value.left}` } };
};

const unhandled = (name: string): { readonly code: string; readonly message: string } =>
  name === triggerRequest
    ? { code: "trigger_unavailable", message: "trigger store is unavailable in this runtime" }
    : { code: "host_request_unhandled", message: `the host answers no requests \`${name}\`` };

type Answering = Pick<HostPort, "request" | "triggers">;

const resultOf = async (
  { request, triggers }: Answering,
  { name, input }: Asked,
  key: string,
  from: HostAsked,
): Promise<EffectResult> => {
  const store = name === triggerRequest ? triggers : undefined;
  if (store === undefined && request === undefined) return { status: "err", error: unhandled(name) };
  try {
    if (store !== undefined) return answered(name, await emitTo(store, input, from));
    return answered(name, await request?.(name, input, key, from));
  } catch (thrown) {
    return failureOf(thrown, "host_request_failed");
  }
};

/** Answers `host.request`. An error that the host throws is the body's error. */
export const answerOf = async (
  host: Answering,
  asked: Asked,
  { keyPrefix }: Place,
  from: HostAsked,
): Promise<Event> => {
  const { call, key } = asked;
  const result = await resultOf(host, asked, `${keyPrefix}${call}:${key}`, from);
  return { type: "host.answered", call, key, result };
};

/**
 * The requests of one runtime that are with its host, by the events that asked. None is asked twice at a time, also where
 * its scope has left memory, and has come back, before a person answered.
 */
export class HostRequests {
  readonly #byScope = new Map<string, Map<number, object>>();

  /** Counts the scopes with requests at the host. */
  get size(): number {
    return this.#byScope.size;
  }

  has(scope: string): boolean {
    return this.#byScope.has(scope);
  }

  /** Begins a request, and returns what ends it; undefined where it is with the host already. */
  begin(scope: string, place: number): (() => boolean) | undefined {
    const known = this.#byScope.get(scope) ?? new Map<number, object>();
    if (known.has(place)) return undefined;
    const asked = {};
    this.#byScope.set(scope, known.set(place, asked));
    return () => this.#end(scope, place, asked);
  }

  /** Returns whether the answer is still wanted: a scope that was lost meanwhile asks anew. */
  #end(scope: string, place: number, asked: object): boolean {
    const known = this.#byScope.get(scope);
    if (known?.get(place) !== asked) return false;
    known.delete(place);
    if (known.size === 0) this.#byScope.delete(scope);
    return true;
  }

  forget(scope: string): void {
    this.#byScope.delete(scope);
  }
}

type Cancel = CommandOf<"external.cancel">;

/** Work outside that a cancelled call had begun. */
export interface ExternalWork {
  readonly scope: string;
  readonly call: string;
  /** The completion key that the work was to resolve. */
  readonly key: string;
}

export interface ExternalPort {
  readonly host: ToolHost;
  readonly platform: Platform;
  readonly isAbandoned: () => boolean;
}

const pausesMs = [1000, 4000, 16_000, 64_000];

const pause = ({ platform }: ExternalPort, tries: number): Promise<void> =>
  new Promise((resolve) => void platform.later(pausesMs[Math.min(tries, pausesMs.length - 1)] as number, resolve));

/** Resolves to true when the host has acknowledged; to false if the scope was lost before, whose next owner asks again. */
export const cancelExternal = async (port: ExternalPort, state: State, { call, key }: Cancel): Promise<boolean> => {
  const { id: scope } = state.scope;
  for (let tries = 0; !port.isAbandoned(); tries++) {
    try {
      await port.host.cancelExternal?.({ scope, call, key });
      return true;
    } catch (thrown) {
      report(port.host, placeOf(state, call), thrown);
      await pause(port, tries);
    }
  }
  return false;
};
