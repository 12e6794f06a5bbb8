/** Checks of snapshots, of retention, and of the hash chain. */
import type { Journal } from "@pawl/runtime";
import { chainStartOf } from "@pawl/runtime/driver";
import { chain } from "@pawl/sansio-core/driver";
import { type JournalCheck, append, claimed, line, one, protocol, same, seqs } from "./rig.ts";

/** Computes the chain over appends with these numbers of lines. */
const chainOf = (scope: string, counts: readonly number[]): string => {
  let [hash, seq] = [chainStartOf(scope), 0];
  for (const count of counts) {
    const lines = Array.from({ length: count }, (_, i) => line(seq + i + 1).line);
    hash = chain(hash, lines);
    seq += count;
  }
  return hash;
};

/** Appends lines 1 to 6, in appends of 2, 3 and 1. */
const sixLines = async (journal: Journal): Promise<void> => {
  await claimed(journal, "s", "a");
  for (const [first, count] of [
    [1, 2],
    [3, 3],
    [6, 1],
  ] as const)
    await one(journal, append("s", 1, first, { count }));
};

export const retentionChecks: readonly JournalCheck[] = [
  {
    name: "keeps the newest snapshot of a durable prefix, and returns it with a claim",
    run: async (rig) => {
      const journal = await rig.open();
      await sixLines(journal);
      same(await journal.snapshot("s", 1, 2, "two"), { type: "ok" }, "a snapshot");
      same(await journal.snapshot("s", 1, 5, "five"), { type: "ok" }, "the next one");
      const snapshot = { seq: 5, text: "five" };
      same(await journal.load("s", "a"), { epoch: 1, seq: 6, snapshot }, "what is loaded");
      const claim = { type: "claimed", lastOwner: "lost", epoch: 2, seq: 6, snapshot };
      same(await journal.claim("s", "b", protocol), claim, "what is claimed");
    },
  },
  {
    name: "refuses a snapshot that is not durable, or not at the end of an append",
    run: async (rig) => {
      const journal = await rig.open();
      await sixLines(journal);
      same(await journal.snapshot("s", 1, 7, "seven"), { type: "conflict", seq: 6 }, "of what is not there yet");
      same(await journal.snapshot("s", 1, 4, "four"), { type: "conflict", seq: 6 }, "of half an append");
      same(await journal.load("s", "a"), { epoch: 1, seq: 6 }, "what is loaded");
    },
  },
  {
    name: "refuses the snapshot and the retention of a fenced driver",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      await sixLines(journal);
      await journal.snapshot("s", 1, 2, "two");
      await claimed(other, "s", "b");
      same(await journal.retain("s", 1, []), { type: "fenced", epoch: 2 }, "the retention");
      same(await journal.snapshot("s", 1, 6, "six"), { type: "fenced", epoch: 2 }, "the snapshot");
      same((await other.load("s", "b"))?.snapshot?.seq, 2, "the snapshot that stands");
      same(await seqs(other, "s"), [1, 2, 3, 4, 5, 6], "the lines");
      same(await journal.snapshot("nobody", 1, 1, ""), { type: "fenced", epoch: 0 }, "a scope that does not exist");
    },
  },
  {
    name: "deletes lines by retention only, up to the snapshot, and leaves a segment",
    run: async (rig) => {
      const journal = await rig.open();
      await sixLines(journal);
      same(await journal.retain("s", 1, []), { type: "conflict", seq: 6 }, "retention without a snapshot");
      await journal.snapshot("s", 1, 5, "five");
      same(await seqs(journal, "s"), [1, 2, 3, 4, 5, 6], "the lines with a snapshot");
      same(await journal.segment("s"), undefined, "the segment before");
      same((await journal.head("s"))?.seq, 6, "the chain, which reaches further than the snapshot");
      same(await journal.retain("s", 1, [2, 4]), { type: "ok", base: 5 }, "retention");
      same(await seqs(journal, "s"), [2, 4, 6], "the lines after it");
      same(await seqs(journal, "s", 3, 4), [4], "the lines from 3 to 4");
      const segment = { base: 5, hash: chainOf("s", [2, 3]), snapshot: "five" };
      same(await journal.segment("s"), segment, "the segment");
      same(await one(journal, append("s", 1, 7)), "ok", "the next append");
      same(await journal.head("s"), { seq: 7, hash: chainOf("s", [2, 3, 1, 1]) }, "the head of the chain");
    },
  },
  {
    name: "retains again, from where it stopped, and keeps lines that are still referred to",
    run: async (rig) => {
      const journal = await rig.open();
      await sixLines(journal);
      await journal.snapshot("s", 1, 2, "two");
      await journal.retain("s", 1, [1, 2]);
      await journal.snapshot("s", 1, 6, "six");
      same(await journal.retain("s", 1, [2, 3]), { type: "ok", base: 6 }, "retention of all");
      same(await seqs(journal, "s"), [2, 3], "the lines after it");
      same(await journal.segment("s"), { base: 6, hash: chainOf("s", [2, 3, 1]), snapshot: "six" }, "the segment");
      await claimed(journal, "t", "a");
      await one(journal, append("t", 1, 1));
      same(await one(journal, append("s", 1, 7)), "ok", "the next append");
      same(await seqs(journal, "s"), [2, 3, 7], "the lines after that");
      same(await seqs(journal, "t"), [1], "the lines of another scope");
      same((await journal.head("s"))?.hash, chainOf("s", [2, 3, 1, 1]), "the chain");
    },
  },
  {
    name: "finds finished things after their line was deleted",
    run: async (rig) => {
      const journal = await rig.open();
      await claimed(journal, "s", "a");
      await one(journal, append("s", 1, 1, { finished: [{ kind: "request", id: "r", seq: 1 }] }));
      await journal.snapshot("s", 1, 1, "one");
      await journal.retain("s", 1, []);
      same(await journal.find("s", "request", "r"), 1, "the finished index");
      same(await seqs(journal, "s"), [], "the lines");
    },
  },
  {
    name: "computes the chain of the written appends, in any process",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      same(await journal.head("s"), undefined, "the head of a scope that does not exist");
      await sixLines(journal);
      same(await other.head("s"), { seq: 6, hash: chainOf("s", [2, 3, 1]) }, "the head");
      await one(journal, append("s", 1, 7, { count: 2 }));
      const head = { seq: 8, hash: chainOf("s", [2, 3, 1, 2]) };
      same(await journal.head("s"), head, "the head after one more");
      same(await journal.snapshot("s", 1, 2, "two"), { type: "ok" }, "a snapshot behind the head");
      await journal.retain("s", 1, []);
      same((await journal.segment("s"))?.hash, chainOf("s", [2]), "the chain up to the snapshot");
      same(await journal.head("s"), head, "the head, still");
      same(await journal.verify("s"), { type: "whole", base: 2, ...head, kept: head.seq }, "what is verified");
      same(await journal.verify("t"), undefined, "what is verified of a scope that does not exist");
    },
  },
];
