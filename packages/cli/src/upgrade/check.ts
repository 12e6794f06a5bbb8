/**
 * Checks whether a scope continues under other code: replays its log, then runs its bodies again with nothing
 * performed.
 */
import type { ToolDefinition } from "@pawl/runtime";
import { type Fault, type Recorded, replay } from "@pawl/sansio-core";
import type { PackedBlob } from "@pawl/sansio-core/driver";
import { recordedTexts } from "./idle-context.ts";
import { copyOf } from "./copy.ts";
import { judge } from "./judge.ts";
import { type PatchUse, patchesOf } from "./patch.ts";
import { type ProtocolChange, protocolChange } from "./protocol.ts";
import { rerun } from "./rerun.ts";
import { type Verdict, isBad } from "./verdict.ts";

export interface CallCheck {
  readonly call: string;
  readonly tool: string;
  readonly phase: string;
  readonly verdict: Verdict;
}

export interface Check {
  readonly scope: string;
  readonly events: number;
  /** The first divergence of the core; bodies are then not checked. */
  readonly fault: Fault | undefined;
  readonly calls: readonly CallCheck[];
  readonly patches: readonly PatchUse[];
  /** The changes that the upgrade at the next opening makes, for a scope of an older protocol. */
  readonly upgrade: ProtocolChange | undefined;
  /** Why bodies could not be run again. */
  readonly unchecked: string | undefined;
}

export const isSafe = ({ fault, calls }: Check): boolean =>
  fault === undefined && !calls.some(({ verdict }) => isBad(verdict));

const uncheckable = (scope: string, base: number): string | undefined => {
  if (base > 0) return `the log starts after event ${base}: bodies can be run again from complete logs only`;
  return scope.startsWith("session:") ? undefined : "bodies can be run again in sessions only";
};

export const checkUpgrade = async (
  text: Iterable<string>,
  tools: readonly ToolDefinition[],
  patienceMs: number,
): Promise<Check> => {
  const events: Recorded[] = [];
  const blobs: PackedBlob[] = [];
  const { state, fault, header } = replay(text, {
    onStep: (recorded) => void events.push(recorded),
    onBlob: (packed) => void blobs.push(packed),
  });
  const found = { scope: header?.scope ?? "", events: events.length, fault };
  if (state === undefined || fault !== undefined)
    return { ...found, calls: [], patches: [], upgrade: undefined, unchecked: undefined };
  const upgrade = protocolChange(state);
  const rows = state.calls.rows().toSorted((a, b) => a.call.born - b.call.born || a.call.index - b.call.index);
  const unchecked = rows.length === 0 ? undefined : uncheckable(state.scope.id, header?.base ?? 0);
  if (rows.length === 0 || unchecked !== undefined)
    return { ...found, calls: [], patches: patchesOf(events, rows, () => undefined), upgrade, unchecked };
  const seen = await rerun({ ...copyOf(events, state), blobs }, tools, patienceMs);
  const recordedText = recordedTexts(events);
  const calls: CallCheck[] = [];
  for (const row of rows) {
    const { call, tool, phase } = row;
    calls.push({ call: call.ref, tool, phase, verdict: await judge(row, tools, seen, recordedText) });
  }
  return { ...found, calls, patches: patchesOf(events, rows, seen.watchOf), upgrade, unchecked };
};
