/**
 * What goes into the log has to be read again: what tools, hooks and hosts say is looked at before it is recorded. A
 * scope with a line in its log that nobody can read is quarantined for ever.
 */
import { type Event, EventCodec } from "@pawl/sansio-core";
import {
  type Codec,
  PendingCompletion,
  ToolCallOutput,
  type ToolResult,
  describe,
  done,
  err,
  pending,
  read,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { Refused, textOf } from "../error.ts";

/** As it is read back, whatever it is; or why it can not be. */
const readBack = <A>(codec: Codec<A>, said: A): E.Either<string, A> => {
  try {
    const again = E.mapLeft(describe)(read(codec, codec.encode(said)));
    return E.isLeft(again) || codec.is(said) ? again : E.left(`expected ${codec.name}`);
  } catch (thrown) {
    return E.left(textOf(thrown));
  }
};

/** A result that was made by hand, as it will be on record; what is none is the tool's error. */
export const roundTripped = (result: ToolResult): ToolResult => {
  const again =
    result.type === "done"
      ? E.map(done)(readBack(ToolCallOutput, result.output))
      : E.map(pending)(readBack(PendingCompletion, result.pending));
  return E.getOrElse((why: string) => err(`Failed to serialize tool result: ${why}`))(again);
};

/** Why an event would not be read back, if so. */
export const problemOfEvent = (event: Event): string | undefined => {
  const again = readBack(EventCodec, event);
  return E.isLeft(again) ? again.left : undefined;
};

/** An event that says what a caller handed in. */
export const decodedEvent = (event: Event): Event => {
  const problem = problemOfEvent(event);
  if (problem !== undefined) throw new Refused("invalid_argument", `\`${event.type}\`: ${problem}`);
  return event;
};
