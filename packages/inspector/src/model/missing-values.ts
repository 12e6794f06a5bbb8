/** The large values that a log names but does not contain. Without them a log can be inspected, but not imported. */
import { namesIn } from "@pawl/runtime/driver";
import { type PackedBlob, blobOf } from "@pawl/sansio-core/driver";
import { noLimits, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

export interface MissingValue {
  readonly blob: string;
  /** The first event that names it; if retention has dropped that event, the event that the log begins after. */
  readonly seq: number;
}

const packedOf = (line: string): readonly PackedBlob[] => {
  const json = parse(line, noLimits);
  const packed = E.isRight(json) ? blobOf(json.right) : undefined;
  return packed === undefined ? [] : [packed];
};

/** Returns the values that a log contains, in the lines before its first event. */
export const containedIn = (head: readonly string[]): readonly PackedBlob[] => head.slice(1).flatMap(packedOf);

/** Returns the values that are named in the lines before or after the first event, and are not contained. */
export const missingIn = (
  head: readonly string[],
  events: readonly string[],
  base: number,
): readonly MissingValue[] => {
  const contained = new Set(containedIn(head).map(({ blob }) => blob));
  const missing = new Map<string, number>();
  const look = (line: string, seq: number): void => {
    for (const name of namesIn(line)) if (!contained.has(name) && !missing.has(name)) missing.set(name, seq);
  };
  for (const line of head) look(line, base);
  for (const [i, line] of events.entries()) look(line, base + 1 + i);
  return [...missing].map(([blob, seq]) => ({ blob, seq }));
};
