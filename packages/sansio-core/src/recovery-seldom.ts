/** What is issued again of calls that are prepared by their tool, decided on, hooked or projected; of what bodies and the outbox say. */
import type { BatchRow } from "./batch/model.ts";
import type { Born } from "./born.ts";
import type { CallIn } from "./call/model.ts";
import type { Command } from "./command.ts";
import { repliesOf } from "./request/replies.ts";
import type { State } from "./state.ts";

const ofPreparing = ({ call, waits, manifest, args }: CallIn<"preparing">): Command =>
  waits === "hook"
    ? { type: "hook.run", call: call.ref, phase: "before", tool: manifest.name, args }
    : { type: "tool.prepare", call: call.ref, tool_id: manifest.id, args };

const ofFinishing = ({ call, tool, args, waits, output, durationMs }: CallIn<"finishing">): Command =>
  waits === "projection"
    ? { type: "result.project", call: call.ref, tool, output }
    : { type: "hook.run", call: call.ref, phase: "after", tool, args, output, duration_ms: durationMs };

export const outstandingOfCall = (
  row: CallIn<"preparing" | "awaiting_approval" | "unknown" | "finishing">,
): Command | undefined => {
  switch (row.phase) {
    case "preparing":
      return ofPreparing(row);
    case "awaiting_approval": {
      const { edited } = row.approval;
      if (edited === undefined) return undefined;
      return { type: "args.check", call: row.call.ref, tool_id: row.manifest.id, args: edited.args };
    }
    case "unknown":
      return { type: "outcome.resolve", call: row.call.ref, cause: row.cause, tool: row.tool };
    case "finishing":
      return ofFinishing(row);
  }
};

export const repliesToRecord = (state: State, row: BatchRow): Born[] => {
  const { parent, born, triggers } = row;
  if (parent === undefined) return [];
  const replies = repliesOf((ref) => state.calls.at(ref), row);
  return [
    { born, index: -1, command: { type: "replies.record", call: parent.call, key: parent.effect, replies, triggers } },
  ];
};

const byKey = (a: { readonly key: string }, b: { readonly key: string }): number => (a.key < b.key ? -1 : 1);

export const outstandingOfOutbox = (state: State): Born[] =>
  state.outbox
    .values()
    .toSorted(byKey)
    .map(({ born, ...command }, index) => ({ born, index, command }));
