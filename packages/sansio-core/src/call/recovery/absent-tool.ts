/**
 * Calls whose tool is away, after a deployment for instance: each waits for a bounded time, and goes on where it stood
 * when the tool is back. A call that runs waits as `no_executor` and keeps its slot. One that is not launched yet waits
 * as `no_tool`: its batch does not wait for it, and launches it when it is ready, as it does with a call that a person
 * had to approve.
 *
 *   preparing ──call.tool_missing──▶ no_tool ──executors.available──▶ no_tool, asked again ──the answer──▶ ready, …
 *   ready ──no such tool any more──▶ no_tool ──executors.available──▶ ready
 *                                       └── its time is over ──▶ finishing
 */
import type { ToolCallOutput } from "@pawl/tool-value";
import type { Draft } from "../../kernel/draft.ts";
import { deadlineIn } from "../../kernel/deadline.ts";
import { type Rejection, reject } from "../../kernel/error.ts";
import { type ProtocolRule, hasRule } from "../../kernel/protocol.ts";
import type { Command, EventOf } from "../../kernel/vocabulary.ts";
import { addVersions } from "../../scope/model.ts";
import { unavailable } from "../finish.ts";
import { resuming } from "../launch.ts";
import type { CallIn, CallRow } from "../model.ts";
import { noContract, preparing, ready } from "../prepare.ts";
import { byBirth, inPhase, isRejection, move } from "../row.ts";

const rule: ProtocolRule = "absent_tool_waits";

type Absent = CallIn<"no_tool">;
type Waiting = Pick<Absent, "manifest" | "waits" | "payload" | "argsHash">;

const absent = (draft: Draft, { call, tool, args, observed }: CallRow, waiting: Waiting): Absent => ({
  call,
  tool,
  args,
  observed,
  phase: "no_tool",
  ...waiting,
  due: deadlineIn(draft, draft.options.no_executor_ms),
});

/** A call that is to be launched waits where its tool has left the catalog; a tool that was switched off is refused. */
export const awaitsTool = (draft: Draft, { manifest }: CallIn<"ready">): boolean =>
  hasRule(draft.scope.protocol, rule) && !draft.catalog.byId.has(manifest.id);

export const absentAtLaunch = (draft: Draft, row: CallIn<"ready">): Absent =>
  absent(draft, row, { manifest: row.manifest, waits: "launch", payload: row.payload, argsHash: row.argsHash });

/** The tool of a call in preparation is not here. */
export const onToolMissing = (draft: Draft, event: EventOf<"call.tool_missing">): Rejection | undefined => {
  const row = inPhase(draft, event.call, "preparing", "no_tool");
  if (isRejection(row)) return row;
  const { manifest, waits } = row;
  if (waits === "hook" || waits === "launch" || (row.phase === "no_tool" && row.due !== undefined))
    return reject("wrong_phase", `call \`${event.call}\`: its tool is asked for nothing now`);
  move(draft, row, absent(draft, row, { manifest, waits, payload: null, argsHash: "" }));
  if (row.phase === "preparing") draft.raise({ type: "preparation.ended", batch: row.call.batch });
  return undefined;
};

/** The question that a call in preparation has for its tool. */
export const questionOf = ({ call, args, manifest, waits }: CallIn<"preparing" | "no_tool">): Command | undefined => {
  if (waits === "args") return { type: "args.check", call: call.ref, tool_id: manifest.id, args };
  return waits === "prepare" ? { type: "tool.prepare", call: call.ref, tool_id: manifest.id, args } : undefined;
};

const back = (draft: Draft, row: Absent): CallRow => {
  if (row.waits === "launch") return ready(row, row.payload, row.argsHash);
  const question = questionOf(row);
  if (question !== undefined) draft.emit(question);
  return { ...row, due: undefined };
};

const isAbsent = (row: CallRow): row is CallIn<"no_executor"> | Absent =>
  row.phase === "no_executor" || (row.phase === "no_tool" && row.due !== undefined);

const manifestOf = (row: CallIn<"no_executor"> | Absent): Absent["manifest"] =>
  row.phase === "no_tool" ? row.manifest : row.body.manifest;

/** Tools have executors again: the calls that waited for one go on. */
export const onExecutors = (draft: Draft, { tools, versions }: EventOf<"executors.available">): undefined => {
  addVersions(draft, versions);
  const waiting = draft
    .calls()
    .filter(isAbsent)
    .filter((row) => tools.includes(manifestOf(row).id))
    .toSorted(byBirth);
  for (const row of waiting) {
    const isLaunched = row.phase === "no_executor";
    move(draft, row, isLaunched ? resuming(draft, row, { body: row.body, cause: "executor_back" }) : back(draft, row));
  }
};

/** A call whose tool was asked again, as one in preparation; its batch does not wait for it. */
export const asPreparing = (row: CallIn<"preparing"> | Absent): CallIn<"preparing"> =>
  row.phase === "no_tool" && row.waits !== "launch"
    ? preparing(row, row.manifest, row.waits)
    : (row as CallIn<"preparing">);

/** The row after an answer of its tool, where nobody waits for its preparation. */
export const afterAnswer = (before: Absent, after: CallRow): CallRow =>
  after.phase === "preparing"
    ? { ...before, args: after.args, waits: after.waits === "args" ? "args" : "prepare", due: undefined }
    : after;

/** The end of a call whose tool did not come back in time. */
export const neverCame = ({ waits }: Absent): ToolCallOutput => (waits === "args" ? noContract : unavailable());
