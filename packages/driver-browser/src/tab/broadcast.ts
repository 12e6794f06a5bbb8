/** A journal that tells all tabs what has become durable in it. */
import type { Journal } from "@pawl/runtime";
import type { Append, AppendResult } from "@pawl/runtime/driver";
import type { Channel } from "./channel.ts";

const lastOf = ({ lines }: Pick<Append, "lines">): number => lines.at(-1)?.seq ?? 0;

export const broadcasting = (journal: Journal, channel: Channel): Journal => {
  const appendAll = async (appends: readonly Append[]): Promise<readonly AppendResult[]> => {
    const results = await journal.appendAll(appends);
    for (const [i, append] of appends.entries())
      if (results[i]?.type === "ok") channel.announce({ type: "appended", scope: append.scope, seq: lastOf(append) });
    return results;
  };
  return { ...journal, appendAll };
};
