/**
 * What every journal must do, as named checks that any test runner can run. A store that passes them can carry scopes:
 * in memory, on SQLite, in IndexedDB, and each later one.
 */
import type { Append, AppendResult, Journal } from "@pawl/runtime";

export interface JournalCheck {
  readonly name: string;
  /** Throws where the store does otherwise. */
  readonly run: (journal: Journal) => Promise<void>;
}

const line = (seq: number): { readonly seq: number; readonly line: string } => ({ seq, line: `{"seq":${seq}}\n` });

const append = (
  scope: string,
  epoch: number,
  first: number,
  more: Partial<Append> & { readonly count?: number } = {},
): Append => {
  const { count = 1, ...rest } = more;
  const lines = Array.from({ length: count }, (_, i) => line(first + i));
  const plain = { expectedSeq: first, appendId: `${epoch}:${first}`, lines, finished: [], wakeAt: undefined };
  return { scope, epoch, ...plain, ...rest };
};

const same = (found: unknown, wanted: unknown, what: string): void => {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what}: expected ${b}, found ${a}`);
};

const one = async (journal: Journal, what: Append): Promise<AppendResult["type"]> =>
  (await journal.appendAll([what]))[0]?.type ?? "failed";

const seqs = async (journal: Journal, scope: string, from = 1): Promise<readonly number[]> =>
  (await journal.read(scope, from)).map(({ seq }) => seq);

export const journalChecks: readonly JournalCheck[] = [
  {
    name: "reads back what was appended, from any sequence on",
    run: async (journal) => {
      const { epoch, seq } = await journal.claim("s", "a");
      same([epoch, seq], [1, 0], "the first claim");
      same(await one(journal, append("s", 1, 1, { count: 3 })), "ok", "an append");
      same(await one(journal, append("s", 1, 4)), "ok", "the next append");
      same(await journal.read("s", 3), [line(3), line(4)], "the lines from 3 on");
      same(await seqs(journal, "s"), [1, 2, 3, 4], "all lines");
      same(await journal.read("nobody", 1), [], "the lines of a scope that is not there");
    },
  },
  {
    name: "raises the epoch with each claim, and fences whoever holds an older one",
    run: async (journal) => {
      await journal.claim("s", "a");
      await one(journal, append("s", 1, 1));
      same(await journal.claim("s", "b"), { epoch: 2, seq: 1 }, "the second claim");
      same(await one(journal, append("s", 1, 2)), "fenced", "an append of the older epoch");
      same(await one(journal, append("s", 2, 2)), "ok", "an append of the newer one");
      same(await seqs(journal, "s"), [1, 2], "the lines");
    },
  },
  {
    name: "refuses an append that does not follow the last",
    run: async (journal) => {
      await journal.claim("s", "a");
      await one(journal, append("s", 1, 1));
      same(await one(journal, append("s", 1, 3)), "conflict", "an append with a gap before it");
      same(await one(journal, append("s", 1, 1, { appendId: "other" })), "conflict", "an append over another");
      same(await seqs(journal, "s"), [1], "the lines");
    },
  },
  {
    name: "takes an append whose acknowledgement was lost for the one that it has",
    run: async (journal) => {
      await journal.claim("s", "a");
      const sent = append("s", 1, 1, { count: 2 });
      same(await one(journal, sent), "ok", "an append");
      same(await one(journal, sent), "ok", "the same append again");
      same(await seqs(journal, "s"), [1, 2], "the lines");
    },
  },
  {
    name: "lets the appends of a group share the sync, and not the fate",
    run: async (journal) => {
      for (const scope of ["a", "b", "c"]) await journal.claim(scope, "x");
      await journal.claim("b", "y");
      const results = await journal.appendAll(["a", "b", "c"].map((scope) => append(scope, 1, 1)));
      same(
        results.map(({ type }) => type),
        ["ok", "fenced", "ok"],
        "the results",
      );
      same([await seqs(journal, "a"), await seqs(journal, "b"), await seqs(journal, "c")], [[1], [], [1]], "the lines");
    },
  },
  {
    name: "lets either a claim or an append come first, and nothing in between",
    run: async (journal) => {
      await journal.claim("s", "a");
      const [results, claim] = await Promise.all([journal.appendAll([append("s", 1, 1)]), journal.claim("s", "b")]);
      const isAppended = results[0]?.type === "ok";
      same(await seqs(journal, "s"), isAppended ? [1] : [], "the lines");
      same(claim.epoch, 2, "the epoch");
      same(
        await one(journal, append("s", 1, isAppended ? 2 : 1, { appendId: "late" })),
        "fenced",
        "an append after it",
      );
    },
  },
  {
    name: "finds what has finished, by kind and id, from the append that finished it on",
    run: async (journal) => {
      await journal.claim("s", "a");
      same(await journal.find("s", "request", "r"), undefined, "before");
      await one(journal, append("s", 1, 1, { finished: [{ kind: "request", id: "r", seq: 1 }] }));
      same(await journal.find("s", "request", "r"), 1, "after");
      same(await journal.find("s", "call", "r"), undefined, "under another kind");
      same(await journal.find("t", "request", "r"), undefined, "in another scope");
    },
  },
  {
    name: "does not finish what a refused append says is finished",
    run: async (journal) => {
      await journal.claim("s", "a");
      await one(journal, append("s", 1, 7, { finished: [{ kind: "request", id: "r", seq: 7 }] }));
      same(await journal.find("s", "request", "r"), undefined, "the finished index");
    },
  },
  {
    name: "lists the scopes whose time has come",
    run: async (journal) => {
      for (const scope of ["a", "b", "c"]) await journal.claim(scope, "x");
      await journal.appendAll([
        append("a", 1, 1, { wakeAt: 10 }),
        append("b", 1, 1, { wakeAt: 20 }),
        append("c", 1, 1),
      ]);
      same(await journal.due(10), ["a"], "at 10");
      same([...(await journal.due(25))].toSorted(), ["a", "b"], "at 25");
      await one(journal, append("a", 1, 2));
      same(await journal.due(25), ["b"], "after the next append of one");
    },
  },
];
