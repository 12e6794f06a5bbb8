/** Which lines of its log a state refers to for their values: retention keeps them. */
import { bodyOf } from "../call/model.ts";
import type { State } from "../kernel/state.ts";

/** Where answers of live bodies stand, and how waits ended that somebody may still await; in the order of the log. */
export const referredTo = ({ calls, waits }: State): readonly number[] => {
  const seqs = new Set<number>();
  for (const row of calls.rows()) {
    for (const { value, settled } of bodyOf(row)?.settled.values() ?? []) seqs.add(value).add(settled);
  }
  for (const { terminal } of waits.rows()) if (terminal !== undefined) seqs.add(terminal.seq);
  return [...seqs].toSorted((a, b) => a - b);
};
