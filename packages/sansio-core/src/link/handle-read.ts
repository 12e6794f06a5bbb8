/** What a holder sees of its handles, and may do with them. */
import type { PersistentMap } from "../kernel/persistent-map.ts";
import type { SessionScope } from "../identity/session-scope.ts";
import type { Asking } from "../message/message.ts";
import { notVisible } from "../message/handle.ts";
import type { ProcessHandleSummary } from "../process/model.ts";
import { type HandleRow, isHeldBy } from "./handle-model.ts";

interface WithHandles {
  readonly handles: PersistentMap<string, HandleRow>;
}

/** Why a holder may not use a process so, if it may not. A signal is for what still runs. */
export const handleMisfit = (
  { handles }: WithHandles,
  holder: SessionScope,
  process: string,
  use: Asking["type"],
): string | undefined => {
  if (use === "process.start") return undefined;
  const row = handles.get(process);
  const isHeld = row !== undefined && isHeldBy(row, holder);
  return isHeld && (use !== "process.signal" || row.status === "running") ? undefined : notVisible(process);
};

/** The handles of a holder, oldest first; `live`: of processes that run. */
export const handlesOf = (
  { handles }: WithHandles,
  holder: SessionScope,
  mode: "live" | "all",
): readonly ProcessHandleSummary[] =>
  handles
    .values()
    .filter((row) => isHeldBy(row, holder) && (mode === "all" || row.status === "running"))
    .toSorted((a, b) => a.born - b.born || (a.process < b.process ? -1 : 1))
    .map(({ process, descriptor, definition, status }) => ({
      __handle__: "process",
      id: process,
      process_id: process,
      descriptor,
      ...(definition === undefined ? {} : { definition }),
      status,
    }));
