/** Finds the first difference between two logs: in an event, in the commands that followed, or at the end. */
import { eventLine } from "@pawl/sansio-core";
import type { Recording } from "./recording.ts";

export interface FirstDifference {
  readonly seq: number;
  readonly what: "event" | "commands" | "end";
}

interface Parts {
  readonly event: string;
  readonly commands: string;
}

/** Returns a line without its time and its epoch, which differ in any two runs. */
const partsOf = (line: string): Parts => {
  const start = line.indexOf(',"event":');
  const end = line.lastIndexOf(',"cmds":');
  return { event: line.slice(start, end), commands: line.slice(end) };
};

const isSame = (a: Parts, b: Parts): boolean => a.event === b.event && a.commands === b.commands;

/** Returns both lines for comparison. Lines of another version are written again in this version's form. */
const sidesAt = (left: Recording, right: Recording, seq: number): readonly [Parts, Parts] => {
  const [a, b] = [partsOf(left.lineAt(seq)), partsOf(right.lineAt(seq))];
  if (isSame(a, b)) return [a, b];
  const rewritten = (recording: Recording): Parts => partsOf(recording.events(seq, seq).map(eventLine).join(""));
  return [rewritten(left), rewritten(right)];
};

/** Finds the first event in which two recordings differ. */
export const firstDifference = (left: Recording, right: Recording): FirstDifference | undefined => {
  const both = Math.min(left.last, right.last);
  for (let seq = Math.max(left.base, right.base) + 1; seq <= both; seq++) {
    const [a, b] = sidesAt(left, right, seq);
    if (a.event !== b.event) return { seq, what: "event" };
    if (a.commands !== b.commands) return { seq, what: "commands" };
  }
  return left.last === right.last ? undefined : { seq: both + 1, what: "end" };
};
