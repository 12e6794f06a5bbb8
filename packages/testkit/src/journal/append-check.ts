/** Checks of appends: which are accepted, which are refused, and what is stored afterwards. */
import { type JournalCheck, append, claimed, line, one, protocol, same, seqs } from "./rig.ts";

export const appendChecks: readonly JournalCheck[] = [
  {
    name: "reads appended lines between any two sequences",
    run: async (rig) => {
      const journal = await rig.open();
      same(await journal.claim("s", "a", protocol), { type: "claimed", epoch: 1, seq: 0 }, "the first claim");
      same(await one(journal, append("s", 1, 1, { count: 3 })), "ok", "an append");
      same(await one(journal, append("s", 1, 4)), "ok", "the next append");
      same(await journal.read("s", 3), [line(3), line(4)], "the lines from 3 on");
      same(await seqs(journal, "s"), [1, 2, 3, 4], "all lines");
      same(await seqs(journal, "s", 2, 2), [2], "one line amid an append");
      same(await seqs(journal, "s", 1, 3), [1, 2, 3], "the lines up to 3");
      same(await seqs(journal, "s", 5), [], "the lines after the last");
      same(await journal.read("nobody", 1), [], "the lines of a scope that does not exist");
    },
  },
  {
    name: "refuses an append that does not follow the last one",
    run: async (rig) => {
      const journal = await rig.open();
      await claimed(journal, "s", "a");
      await one(journal, append("s", 1, 1));
      same(await one(journal, append("s", 1, 3)), "conflict", "an append with a gap before it");
      same(await one(journal, append("s", 1, 1, { appendId: "other" })), "conflict", "an append over another");
      same(await one(journal, append("s", 1, 2)), "ok", "the one that follows");
      same(await seqs(journal, "s"), [1, 2], "the lines");
    },
  },
  {
    name: "accepts a repeated append whose acknowledgement was lost, from any process",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      await claimed(journal, "s", "a");
      const sent = append("s", 1, 1, { count: 2 });
      same(await one(journal, sent), "ok", "an append");
      same(await one(journal, sent), "ok", "the same append again");
      same(await one(other, sent), "ok", "the same append again, from elsewhere");
      same(await one(other, append("s", 1, 3)), "ok", "the next one");
      same(await one(journal, sent), "ok", "the first one, late");
      same(await one(journal, append("s", 1, 4)), "ok", "one that follows what was written elsewhere");
      same(await seqs(journal, "s"), [1, 2, 3, 4], "the lines");
    },
  },
  {
    name: "judges each append of a group by itself",
    run: async (rig) => {
      const journal = await rig.open();
      for (const scope of ["a", "b", "c"]) await claimed(journal, scope, "x");
      await claimed(journal, "b", "y");
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
    name: "accepts several appends of one scope in one group, in order",
    run: async (rig) => {
      const journal = await rig.open();
      await claimed(journal, "s", "a");
      const results = await journal.appendAll([append("s", 1, 1), append("s", 1, 2), append("s", 1, 4)]);
      same(
        results.map(({ type }) => type),
        ["ok", "ok", "conflict"],
        "the results",
      );
      same(await seqs(journal, "s"), [1, 2], "the lines");
    },
  },
  {
    name: "finds finished things by kind and id, from the append that finished them",
    run: async (rig) => {
      const journal = await rig.open();
      await claimed(journal, "s", "a");
      same(await journal.find("s", "request", "r"), undefined, "before");
      await one(journal, append("s", 1, 1, { finished: [{ kind: "request", id: "r", seq: 1 }] }));
      same(await journal.find("s", "request", "r"), 1, "after");
      same(await journal.find("s", "call", "r"), undefined, "under another kind");
      same(await journal.find("t", "request", "r"), undefined, "in another scope");
    },
  },
  {
    name: "writes nothing of a refused append",
    run: async (rig) => {
      const journal = await rig.open();
      await claimed(journal, "s", "a");
      const messages = [{ to: "t", kind: "message", link: 1, number: 1, text: "hello" }] as const;
      const finished = [{ kind: "request", id: "r", seq: 7 }] as const;
      await one(journal, append("s", 1, 7, { finished, messages, wakeAt: 1, protocol: protocol + 1 }));
      same(await journal.find("s", "request", "r"), undefined, "the finished index");
      same(await journal.inbox("t"), [], "the inbox of the other scope");
      same(await journal.due(10), [], "what is due");
      same((await claimed(journal, "s", "a")).epoch, 2, "the epoch of the next claim");
    },
  },
  {
    name: "lists the scopes that are due, earliest first",
    run: async (rig) => {
      const journal = await rig.open();
      for (const scope of ["a", "b", "c"]) await claimed(journal, scope, "x");
      await journal.appendAll([
        append("a", 1, 1, { wakeAt: 20 }),
        append("b", 1, 1, { wakeAt: 10 }),
        append("c", 1, 1),
      ]);
      same(await journal.due(10), ["b"], "at 10");
      same(await journal.due(25), ["b", "a"], "at 25");
      await one(journal, append("b", 1, 2));
      same(await journal.due(25), ["a"], "after the next append of one");
    },
  },
  {
    name: "lists scopes by name, page by page",
    run: async (rig) => {
      const journal = await rig.open();
      for (const scope of ["session:b", "process:x", "session:a", "session:c"]) await claimed(journal, scope, "x");
      await one(journal, append("session:b", 1, 1, { count: 2, wakeAt: 5 }));
      const page = await journal.scopes("session:", "session:a", 10);
      const [b, c] = [
        { scope: "session:b", epoch: 1, seq: 2, owner: "x", wakeAt: 5 },
        { scope: "session:c", epoch: 1, seq: 0, owner: "x" },
      ];
      same(page, [b, c], "the page after session:a");
      same(
        (await journal.scopes("", "", 2)).map(({ scope }) => scope),
        ["process:x", "session:a"],
        "the first two of all",
      );
    },
  },
  {
    name: "lists the scopes that await approvals, as of their last append that says so",
    run: async (rig) => {
      const journal = await rig.open();
      for (const scope of ["process:x", "session:a", "session:b", "session:c", "session:d"])
        await claimed(journal, scope, "x");
      const wanting = async (prefix = "", after = "", limit = 9): Promise<readonly unknown[]> =>
        (await (await rig.open()).awaitingApproval(prefix, after, limit)).map(({ scope, approvals }) => [
          scope,
          approvals,
        ]);
      await journal.appendAll([
        append("process:x", 1, 1, { approvals: 1 }),
        append("session:a", 1, 1, { approvals: 3 }),
        append("session:b", 1, 1),
        append("session:c", 1, 1, { approvals: 2 }),
      ]);
      const [x, a, c] = [
        ["process:x", 1],
        ["session:a", 3],
        ["session:c", 2],
      ];
      same(await wanting(), [x, a, c], "all");
      same(await wanting("session:"), [a, c], "those of a prefix");
      same(await wanting("session:", "session:a"), [c], "those after one");
      same(await wanting("", "", 2), [x, a], "the first two");
      await one(journal, append("session:a", 1, 2));
      same(await wanting("session:"), [a, c], "after an append that does not say");
      await one(journal, append("session:a", 1, 3, { approvals: 0 }));
      await one(journal, append("session:c", 1, 1, { approvals: 9 }));
      same(await wanting("session:"), [c], "after the last approval of one, and a repeated append");
      same((await journal.scopes("session:c", "", 1))[0]?.approvals, 2, "in the list of all");
    },
  },
];
