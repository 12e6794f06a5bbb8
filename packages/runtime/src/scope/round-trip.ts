/**
 * Round trips: everything that tools, hooks and hosts say is encoded and read back before it is recorded. A scope with
 * a line in its log that nobody can read is quarantined for ever.
 */
import * as E from "fp-ts/lib/Either.js";
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
import { type Event, EventCodec } from "@pawl/sansio-core";
import { Refused, textOf } from "../error.ts";

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
