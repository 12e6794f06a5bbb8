/** What the calls of an ended batch came to, in their order. */
import type { BatchRow } from "../batch/model.ts";
import type { CallRow } from "../call/model.ts";
import { Invariant } from "../error.ts";
import type { CallRef } from "../ids.ts";
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

const said = ({ call_id, output }: Reply): string => `${output.outcome.status} of \`${call_id}\``;

/** Where replies that are reported are not what the batch came to, if they aren't. */
export const firstDifference = (expected: readonly Reply[], found: readonly Reply[]): string | undefined => {
  if (expected.length !== found.length) return `expected ${expected.length} replies, found ${found.length}`;
  const index = expected.findIndex((reply, i) => said(reply) !== said(found[i] as Reply));
  if (index === -1) return undefined;
  return `reply ${index}: expected ${said(expected[index] as Reply)}, found ${said(found[index] as Reply)}`;
};
