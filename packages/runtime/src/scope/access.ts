/**
 * The parts of a scope that verbs of a session work with, and how verbs refuse. A refusal waits until what it says is
 * durable.
 */
import type { LogPages } from "../session/observe/log-page.ts";
import type { Event, Rejection, State } from "@pawl/sansio-core";
import { type Codec, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { Refused } from "../error.ts";
import type { FinishedIndex } from "./history.ts";
import type { JournalLine } from "../journal/journal.ts";
import type { Fault } from "./deferred-event.ts";
import { refusedValue } from "./offload-policy.ts";
import type { Platform } from "../platform.ts";
import { decodedEvent } from "./round-trip.ts";
import type { ScopeRunner } from "./runner.ts";
import type { Telemetry } from "../log.ts";
import type { Values } from "./large-values.ts";

export interface Access {
  readonly runner: ScopeRunner;
  readonly finished: FinishedIndex;
  readonly platform: Platform;
  readonly begun: () => Promise<State>;
  readonly values: Values;
  readonly fault: Fault;
  readonly telemetry: Telemetry | undefined;
  /** Reads lines of the log. The scope stays in memory meanwhile. */
  readonly readLines: (from: number, to?: number) => Promise<readonly JournalLine[]>;
  /** The log, page by page, for those who follow it. */
  readonly pages: LogPages;
  /** Tells the host what went wrong inside, and is no caller's fault. */
  readonly report: (what: string, thrown: unknown) => void;
}

export const refuse = async (
  { runner }: Access,
  { code, message }: { readonly code: string; readonly message: string },
): Promise<never> => {
  await runner.whenDurable();
  throw new Refused(code, message);
};

/**
 * An event of a caller's as it is recorded, once its large values are durable: before it is told, so that one that has
 * no room costs nobody else anything. Undefined where it is recorded as it is.
 */
export const storedForm = async ({ runner, values, fault }: Access, event: Event): Promise<Event | undefined> => {
  try {
    return await values.keep(event, runner.state);
  } catch (thrown) {
    fault(`a value of \`${event.type}\` was not stored`, thrown);
    throw refusedValue(event.type);
  }
};

/** Tells an event, and waits until it is durable. */
export const record = async (access: Access, event: Event): Promise<void> => {
  const told = access.runner.apply(decodedEvent(event));
  if (E.isLeft(told)) return refuse(access, told.left);
  await access.runner.whenDurable();
};

export const decoded = <A>(codec: Codec<A>, given: unknown, what: string): A => {
  const value = read(codec, given);
  if (E.isLeft(value)) throw new Refused("invalid_argument", `${what}: ${describe(value.left)}`);
  return value.right;
};

/** Refuses a verb on a call that is not live: it has ended, or there never was one. */
export const missingCall = (access: Access, call: string, rejection: Rejection): Promise<never> =>
  access.finished
    .find("call", call)
    .then((seq) =>
      seq === undefined
        ? refuse(access, rejection)
        : refuse(access, { code: "call_ended", message: `call \`${call}\` ended with event ${seq}` }),
    );
