/** A scope's past, read from its log: one event, or the state before it. */
import { type Recorded, type State, describeFault, follow } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import type { Access } from "./access.ts";
import { Refused } from "./error.ts";
import { Quarantined, recordedIn } from "./fold.ts";

/** Lines that are folded in one turn: the scope's own work goes on in between. */
const linesPerTurn = 1000;

const turn = ({ platform }: Access): Promise<void> => new Promise((resolve) => platform.nextTurn(resolve));

const gone = (scope: string, seq: number): Refused =>
  new Refused("gone", `event ${seq} of ${scope} is past the log's retention: what it was is not known any more`);

export const eventAt = async ({ runner, readLines }: Access, seq: number): Promise<Recorded> => {
  const [line] = await readLines(seq);
  if (line?.seq !== seq) throw gone(runner.id, seq);
  return recordedIn(runner.id, line);
};

export const stateBefore = async (access: Access, seq: number): Promise<State> => {
  const { id } = access.runner;
  let state = await access.begun();
  if (state.seq >= seq) throw gone(id, seq);
  for (const line of await access.readLines(state.seq + 1)) {
    if (line.seq >= seq) return state;
    const followed = follow(state, recordedIn(id, line), line.seq);
    if (E.isLeft(followed)) throw new Quarantined(id, describeFault(followed.left), followed.left);
    state = followed.right.state;
    if (line.seq % linesPerTurn === 0) await turn(access);
  }
  return state;
};
