/** Writes a log into a journal, as a scope that is not there yet. */
import { randomUUID } from "node:crypto";
import type { Append, Journal } from "@pawl/runtime";
import { type Finished, type State, currentProtocol, nextDeadline } from "@pawl/sansio-core";
import { isThere } from "../act/fold.ts";
import { CliError, exit } from "../exit.ts";

/** A line with what followed from it. */
export interface Stepped {
  readonly seq: number;
  readonly line: string;
  readonly finished: readonly Finished[];
}

/** One append, so that the scope is there as a whole or not at all. */
export const putLog = async (journal: Journal, stepped: readonly Stepped[], state: State): Promise<void> => {
  const { id: scope, epoch: above, protocol } = state.scope;
  if (await isThere(journal, scope)) {
    const hint = "put it under another name with --into";
    throw new CliError("scope_exists", `there is a scope ${scope} already`, { exit: exit.refused, hint });
  }
  const instance = `pawl:${process.pid}:${randomUUID()}`;
  await journal.join(instance, { ttlMs: 60_000 });
  try {
    const claim = await journal.claim(scope, instance, currentProtocol, above);
    if (claim.type !== "claimed") {
      throw new CliError("not_claimed", `${scope} can not be claimed: ${claim.type}`, { exit: exit.unreachable });
    }
    const append: Append = {
      scope,
      epoch: claim.epoch,
      expectedSeq: 1,
      appendId: `${claim.epoch}:1`,
      lines: stepped.map(({ seq, line }) => ({ seq, line })),
      finished: stepped.flatMap(({ seq, finished }) => finished.map((one) => ({ ...one, seq }))),
      wakeAt: nextDeadline(state)?.at,
      protocol,
      messages: [],
      received: [],
    };
    const [result] = await journal.appendAll([append]);
    if (result?.type === "ok") return;
    throw new CliError(`append_${result?.type}`, `${scope} was not taken by the journal: ${result?.type}`, {
      exit: exit.unreachable,
    });
  } finally {
    await journal.leave(instance);
  }
};
