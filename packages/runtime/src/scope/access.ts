/**
 * The parts of a scope that verbs of a session work with, how verbs refuse, and how what they say is recorded. A refusal
 * waits until what it says is durable. Everything that tools, hooks and hosts say makes a round trip, encoded and read
 * back, before it is recorded: a scope with a line in its log that nobody can read is quarantined for ever.
 */
import type { NewestEvents } from "../session/newest-event.ts";
import type { LogPages } from "../session/observe/log-page.ts";
import { type RejectionCode, type Event, type Rejection, type State, EventCodec } from "@pawl/sansio-core";
import {
  type Codec,
  type ToolResult,
  describe,
  done,
  err,
  pending,
  PendingCompletion,
  read,
  ToolCallOutput,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { Refused, textOf } from "../error.ts";
import type { FinishedIndex } from "./history.ts";
import type { JournalLine } from "../journal/journal.ts";
import { type Fault, refusedValue } from "./offload.ts";
import type { Platform } from "../platform.ts";
import type { ScopeRunner } from "./runner.ts";
import type { Telemetry } from "../log.ts";
import type { Values } from "./large-values.ts";

/** Returns a value as it is read back, or why it cannot be. */
const readBack = <A>(codec: Codec<A>, said: A): E.Either<string, A> => {
  try {
    const again = read(codec, codec.encode(said));
    if (E.isLeft(again)) return E.left(describe(again.left));
    return codec.is(said) ? again : E.left(`expected ${codec.name}`);
  } catch (thrown) {
    return E.left(textOf(thrown));
  }
};

const unreadable = (why: string): ToolResult => err(`Failed to serialize tool result: ${why}`);

/** Returns a tool's result as it will be on record. Anything that is no result becomes the tool's error. */
export const roundTripped = (result: ToolResult): ToolResult => {
  if (result.type === "done") {
    const again = readBack(ToolCallOutput, result.output);
    return E.isLeft(again) ? unreadable(again.left) : done(again.right);
  }
  const again = readBack(PendingCompletion, result.pending);
  return E.isLeft(again) ? unreadable(again.left) : pending(again.right);
};

export const problemOfEvent = (event: Event): string | undefined => {
  const again = readBack(EventCodec, event);
  return E.isLeft(again) ? again.left : undefined;
};

export const decodedEvent = (event: Event): Event => {
  const problem = problemOfEvent(event);
  if (problem !== undefined) throw new Refused("invalid_argument", `\`${event.type}\`: ${problem}`);
  return event;
};

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
  /** When something last happened to live requests. */
  readonly newest: NewestEvents;
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

/** Tells an event, and waits until it is durable. A rejection with an expected code says that nothing is left to do. */
export const record = async (access: Access, event: Event, ...expected: readonly RejectionCode[]): Promise<void> => {
  const told = access.runner.apply(decodedEvent(event));
  if (E.isLeft(told) && !expected.includes(told.left.code)) return refuse(access, told.left);
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
