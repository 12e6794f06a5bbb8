import { type JournalRig, journalChecks, limitChecks, moveChecks } from "@pawl/testkit";
import { describe, it } from "vitest";
import { memoryJournal } from "../src/index.ts";

/** One store for all who open it; who opens it with little room leaves it little. */
const rig = (): JournalRig => {
  let now = 0;
  let capacity = Infinity;
  const journal = memoryJournal({ now: () => now, capacity: () => capacity });
  return {
    open: async (room = Infinity) => {
      capacity = room;
      return journal;
    },
    pass: (ms) => (now += ms),
  };
};

describe("a journal in memory", () => {
  for (const { name, run } of [...journalChecks, ...moveChecks, ...limitChecks]) it(name, () => run(rig()));
});
