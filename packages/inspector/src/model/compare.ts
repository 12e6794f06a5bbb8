/** Two logs side by side: where they first differ, in what was recorded or in what followed from it. */
import type { Recording } from "./recording.ts";

export interface FirstDifference {
  readonly seq: number;
  readonly what: "event" | "commands" | "end";
}

/** A line without its time and its epoch, which two runs never share. */
const partsOf = (line: string): { readonly event: string; readonly commands: string } => {
  const start = line.indexOf(',"event":');
  const end = line.lastIndexOf(',"cmds":');
  return { event: line.slice(start, end), commands: line.slice(end) };
};

export const firstDifference = (left: Recording, right: Recording): FirstDifference | undefined => {
  const both = Math.min(left.last, right.last);
  for (let seq = Math.max(left.base, right.base) + 1; seq <= both; seq++) {
    const [a, b] = [partsOf(left.lineAt(seq)), partsOf(right.lineAt(seq))];
    if (a.event !== b.event) return { seq, what: "event" };
    if (a.commands !== b.commands) return { seq, what: "commands" };
  }
  return left.last === right.last ? undefined : { seq: both + 1, what: "end" };
};
