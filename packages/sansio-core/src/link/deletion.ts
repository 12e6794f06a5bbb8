/** A session is deleted: it lets go of its processes, and hears from each what becomes of it. Nothing is killed. */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import { processOfScope, processScope } from "../identity/process-scope.ts";
import { isSession } from "../identity/session-scope.ts";
import type { Signal } from "../kernel/signal.ts";
import { misfitOfDeleted } from "../scope/deleted.ts";
import type { DeletionRow } from "./handle-model.ts";

const say = (draft: Draft, process: string): void =>
  draft.raise({
    type: "messages.send",
    to: processScope(process),
    message: { type: "session.deleted" },
    isLast: false,
  });

const report = (draft: Draft, { asked, orphaned, preserved }: DeletionRow): void => {
  if (asked.length === 0) draft.emit({ type: "deletion.report", orphaned, preserved });
};

/** Processes that it has spoken to may wake it, though it holds them no more. */
const othersKnown = (draft: Draft): readonly string[] =>
  draft.links
    .keys()
    .filter((peer) => peer.startsWith("process:"))
    .map(processOfScope);

export const onDeleted = (draft: Draft): Rejection | undefined => {
  const misfit = misfitOfDeleted(draft);
  if (misfit !== undefined) return misfit;
  if (!isSession(draft.scope.id)) return reject("handle_refused", `\`${draft.scope.id}\` is no session`);
  const rows = draft.handles.values();
  const asked = rows.filter(({ status }) => status === "running").map(({ process }) => process);
  for (const { process } of rows) draft.dropHandle(process);
  for (const process of [...new Set([...asked, ...othersKnown(draft)])].toSorted()) say(draft, process);
  const deletion = { asked: asked.toSorted(), orphaned: [], preserved: [] };
  draft.setDeletion(deletion);
  draft.raise({ type: "waits.revoke", keys: draft.waits().map(({ key }) => key) });
  if (draft.work.schedules.rows.size > 0) draft.raise({ type: "schedules.end" });
  report(draft, deletion);
  return undefined;
};

/** A handle that comes after the end is let go of like the others. */
export const letGo = (draft: Draft, deletion: DeletionRow, process: string): void => {
  if (deletion.asked.includes(process)) return;
  draft.setDeletion({ ...deletion, asked: [...deletion.asked, process].toSorted() });
  say(draft, process);
};

const withProcess = (processes: readonly string[], process: string): readonly string[] =>
  processes.includes(process) ? processes : [...processes, process].toSorted();

/** A process has said what becomes of it. Of one that has ended there is nothing to report. */
export const onReleased = (draft: Draft, signal: Extract<Signal, { readonly type: "handle.released" }>): void => {
  const { deletion } = draft;
  const { process, fate } = signal;
  if (deletion === undefined || !deletion.asked.includes(process)) return;
  const asked = deletion.asked.filter((other) => other !== process);
  const next = { ...deletion, asked };
  const told = fate === "ended" ? next : { ...next, [fate]: withProcess(deletion[fate], process) };
  draft.setDeletion(told);
  report(draft, told);
};
