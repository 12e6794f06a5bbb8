/** Large values that a log names and does not bring along: without them it can be looked at, but not taken in elsewhere. */
import { namesIn } from "@pawl/runtime";
import { type PackedBlob, blobOf } from "@pawl/sansio-core";
import { noLimits, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

export interface Absent {
  readonly blob: string;
  /** The first event that names it; where retention has passed that, the event that the log goes on from. */
  readonly seq: number;
}

const packedOf = (line: string): readonly PackedBlob[] => {
  const json = parse(line, noLimits);
  const packed = E.isRight(json) ? blobOf(json.right) : undefined;
  return packed === undefined ? [] : [packed];
};

/** The values that a log brings along, in lines that stand before its first event. */
export const broughtIn = (begun: readonly string[]): readonly PackedBlob[] => begun.slice(1).flatMap(packedOf);

/** Of lines that stand before the first event, and of those from it on. */
export const absentIn = (begun: readonly string[], events: readonly string[], base: number): readonly Absent[] => {
  const brought = new Set(broughtIn(begun).map(({ blob }) => blob));
  const absent = new Map<string, number>();
  const look = (line: string, seq: number): void => {
    for (const name of namesIn(line)) if (!brought.has(name) && !absent.has(name)) absent.set(name, seq);
  };
  for (const line of begun) look(line, base);
  for (const [i, line] of events.entries()) look(line, base + 1 + i);
  return [...absent].map(([blob, seq]) => ({ blob, seq }));
};
