/** A scope's past, read from its log: one event, or the state before it. */
import type { Recorded, State } from "@pawl/sansio-core";
import type { Access } from "./access.ts";
import { Refused } from "../error.ts";
import type { Platform } from "../platform.ts";
import { recordedIn, stateAfter } from "./fold.ts";

/** Lines that are folded in one turn: the scope's own work goes on in between. */
const linesPerTurn = 1000;

/** A turn for others, after so many lines. */
export const turnAfter = async (platform: Platform, seq: number): Promise<void> => {
  if (seq % linesPerTurn === 0) await new Promise<void>((resolve) => platform.nextTurn(resolve));
};

const gone = (scope: string, seq: number): Refused =>
  new Refused("gone", `event ${seq} of ${scope} is past the log's retention: what it was is not known any more`);

export const eventAt = async ({ runner, readLines }: Access, seq: number): Promise<Recorded> => {
  const [line] = await readLines(seq, seq);
  if (line?.seq !== seq) throw gone(runner.id, seq);
  return recordedIn(runner.id, line);
};

export const stateBefore = async (access: Access, seq: number): Promise<State> => {
  const { id } = access.runner;
  const lines = await access.readLines(1, seq - 1); // First: what retention takes meanwhile is in the state by then.
  let state = await access.begun();
  if (state.seq >= seq) throw gone(id, seq);
  for (const line of lines) {
    if (line.seq > state.seq) state = stateAfter(id, state, recordedIn(id, line), line.seq);
    await turnAfter(access.platform, line.seq);
  }
  return state;
};
