/** What the calls of an ended batch came to, in their order. */
import type { BatchRow } from "../call/batch-model.ts";
import type { CallRow } from "../call/model.ts";
import { Invariant } from "../kernel/error.ts";
import type { CallRef } from "../kernel/ids.ts";
import type { Reply } from "./model.ts";

export const repliesOf = (at: (ref: CallRef) => CallRow | undefined, { calls }: BatchRow): readonly Reply[] =>
  calls.map((ref) => {
    const row = at(ref);
    if (row?.phase !== "completed") throw new Invariant(`call ${ref} is not completed, but its batch has ended`);
    const { call, tool, args, output, durationMs, parts } = row;
    return {
      call_id: call.id,
      tool,
      args,
      output,
      duration_ms: durationMs,
      ...(parts === undefined ? {} : { parts }),
      ...(call.replay === undefined ? {} : { replay: call.replay }),
    };
  });
