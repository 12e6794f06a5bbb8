/** The invariants of handles, one function each: what is broken, and in which handle. */
import type { Check } from "../concern.ts";
import { sessionScopeId } from "../identity/session-scope.ts";
import { mostOf } from "../scope/check.ts";
import type { State } from "../kernel/state.ts";
import { scopeOfHolder } from "./handle-model.ts";

export const checkH1: Check = ({ handles, scope }) => {
  for (const { process, holders } of handles.values()) {
    const names = new Set(holders.map(sessionScopeId));
    if (names.size !== holders.length || names.size === 0)
      return `handle of \`${process}\`: H1: ${holders.length} holders`;
    const stray = holders.find((holder) => scopeOfHolder(holder) !== scope.id);
    if (stray !== undefined) return `handle of \`${process}\`: H1: \`${sessionScopeId(stray)}\` is another session's`;
  }
  return undefined;
};

const endedOf = ({ handles }: State): number => handles.values().filter((row) => row.ended !== undefined).length;

/** A smaller bound may leave more. */
export const checkH2Change = (before: State, after: State): string | undefined => {
  const max = mostOf("max_ended_handles", before, after);
  return endedOf(after) <= Math.max(max, endedOf(before)) ? undefined : `H2: ${endedOf(after)} ended handles of ${max}`;
};

export const checkH3: Check = ({ handles }) => {
  for (const [key, { process, status, ended }] of handles) {
    if (key !== process) return `handle of \`${process}\`: H3: it is kept as \`${key}\``;
    if ((ended === undefined) !== (status === "running"))
      return `handle of \`${process}\`: H3: ${status}, ended at ${ended}`;
  }
  return undefined;
};

export const checkH4: Check = ({ deletion, handles, scope }) => {
  if (deletion === undefined) return undefined;
  if (!scope.id.startsWith("session:")) return `H4: \`${scope.id}\` is deleted, and no session`;
  if (handles.size > 0) return `H4: deleted, with ${handles.size} handles`;
  const { asked, orphaned, preserved } = deletion;
  const twice = [asked, orphaned, preserved].find((list) => new Set(list).size !== list.length);
  return twice === undefined ? undefined : `H4: a process is named twice in ${twice.join()}`;
};

export const checkH4Change = (before: State, after: State): string | undefined =>
  before.deletion === undefined || after.deletion !== undefined ? undefined : "H4: a deletion was undone";

export const handleChecks: readonly Check[] = [checkH1, checkH3, checkH4];
export const handleChangeChecks = [checkH2Change, checkH4Change] as const;
