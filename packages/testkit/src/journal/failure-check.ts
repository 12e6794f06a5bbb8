/** Checks of a full store. */
import { type JournalCheck, append, claimed, one, same, seqs } from "./rig.ts";

const big = { seq: 1, line: `{"seq":1,"value":"${"x".repeat(200_000)}"}\n` };

export const failureChecks: readonly JournalCheck[] = [
  {
    name: "acknowledges no append that does not fit, and continues when there is room",
    run: async (rig) => {
      const before = await rig.open();
      for (const scope of ["a", "b", "c"]) await claimed(before, scope, "x");
      const journal = await rig.open(100_000);
      const group = [append("a", 1, 1), append("b", 1, 1, { lines: [big] }), append("c", 1, 1)];
      const results = (await journal.appendAll(group)).map(({ type }) => type);
      same(results[1], "full", "the append that does not fit");
      const there = await Promise.all(["a", "b", "c"].map((scope) => seqs(journal, scope)));
      same(
        there,
        results.map((type) => (type === "ok" ? [1] : [])),
        "the lines of the acknowledged appends",
      );
      const after = await rig.open();
      const again = await after.appendAll(group);
      same(
        again.map(({ type }) => type),
        ["ok", "ok", "ok"],
        "the same group, with room",
      );
      same(await one(after, append("b", 1, 2)), "ok", "the next append");
    },
  },
];
