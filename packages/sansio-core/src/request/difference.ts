/** Where replies that are reported differ from what a batch came to. */
import type { Reply } from "./model.ts";

const said = ({ call_id, output }: Reply): string => `${output.outcome.status} of \`${call_id}\``;

/** Where replies that are reported are not what the batch came to, if they aren't. */
export const firstDifference = (expected: readonly Reply[], found: readonly Reply[]): string | undefined => {
  if (expected.length !== found.length) return `expected ${expected.length} replies, found ${found.length}`;
  const index = expected.findIndex((reply, i) => said(reply) !== said(found[i] as Reply));
  if (index === -1) return undefined;
  return `reply ${index}: expected ${said(expected[index] as Reply)}, found ${said(found[index] as Reply)}`;
};
