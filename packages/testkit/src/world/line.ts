/** Events of a log, as its lines hold them. */
import { type Event, recordedOf } from "@pawl/sansio-core";
import { describe, noLimits, parse } from "@pawl/tool-value";
import type { JournalLine } from "@pawl/runtime";
import * as E from "fp-ts/lib/Either.js";

export const eventOf = ({ seq, line }: JournalLine): Event => {
  const recorded = E.chain(recordedOf)(parse(line, noLimits));
  if (E.isLeft(recorded)) throw new TypeError(`line ${seq} of a log: ${describe(recorded.left)}`);
  return recorded.right.event;
};
