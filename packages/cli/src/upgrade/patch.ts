/** Patches of new code (`ctx.patched`), and whether a live call still needs the older self beside it. */
import type { Recorded } from "@pawl/sansio-core";
import { type BodyState, type CallRow, bodyOf } from "@pawl/sansio-core/driver";
import type { Watch } from "./idle-context.ts";

export interface PatchUse {
  readonly name: string;
  /** True if a live call is answered false, or may be. */
  readonly isNeeded: boolean;
}

const recordedIn = (events: readonly Recorded[]): readonly string[] =>
  events.flatMap(({ event }) => ("patched" in event ? Object.keys(event.patched ?? {}) : []));

/** Returns what a live body is answered. One that was not run again may be answered anything. */
const answerOf = ({ patches }: BodyState, watch: Watch | undefined, name: string): boolean =>
  (Object.hasOwn(patches, name) ? patches[name] : watch?.patches.get(name)) ?? watch !== undefined;

const needs = (row: CallRow, watch: Watch | undefined, name: string): boolean => {
  const body = bodyOf(row);
  return body !== undefined && !answerOf(body, watch, name);
};

/** Lists the patches that a log has on record, or that its live bodies ask for. */
export const patchesOf = (
  events: readonly Recorded[],
  rows: readonly CallRow[],
  watchOf: (call: string) => Watch | undefined,
): readonly PatchUse[] => {
  const watched = rows.map((row) => ({ row, watch: watchOf(row.call.ref) }));
  const asked = watched.flatMap(({ watch }) => [...(watch?.patches.keys() ?? [])]);
  const names = new Set([...recordedIn(events), ...asked]);
  return [...names].toSorted().map((name) => ({
    name,
    isNeeded: watched.some(({ row, watch }) => needs(row, watch, name)),
  }));
};
