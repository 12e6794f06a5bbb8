/** What somebody says again whose answer was lost: the log knows whether it was taken the first time. */
import type { Event, Recorded } from "@pawl/sansio-core";
import type { Access } from "../scope/access.ts";
import { recordedIn } from "../scope/fold.ts";

/** Lines that are looked at in one turn: the scope's own work goes on in between. */
const linesPerTurn = 10_000;

const turn = ({ platform }: Access): Promise<void> => new Promise((resolve) => platform.nextTurn(resolve));

/** The events of some types that the log still has; the other lines are not read. */
export const recordedOf = async (access: Access, types: ReadonlySet<Event["type"]>): Promise<readonly Recorded[]> => {
  const { runner, readLines } = access;
  await runner.whenDurable();
  const names = [...types].map((type) => JSON.stringify(type));
  const found: Recorded[] = [];
  for (const [i, line] of (await readLines(1)).entries()) {
    if (names.some((name) => line.line.includes(name))) {
      const recorded = recordedIn(runner.id, line);
      if (types.has(recorded.event.type)) found.push(recorded);
    }
    if (i % linesPerTurn === linesPerTurn - 1) await turn(access);
  }
  return found;
};
