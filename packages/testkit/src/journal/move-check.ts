/** Checks of stores between which scopes can move. */
import type { Journal } from "@pawl/runtime";
import type { Adoption, MoveStore } from "@pawl/runtime/driver";
import { chain } from "@pawl/sansio-core/driver";
import { type JournalCheck, append, claimed, line, one, protocol, same, seqs } from "./rig.ts";

const movesOf = ({ moves }: Journal): MoveStore => {
  if (moves === undefined) throw new Error("expected a store whose scopes can move");
  return moves;
};

const adoption = (epoch: number, nonce: string, count: number, more: Partial<Adoption> = {}): Adoption => ({
  scope: "s",
  epoch,
  nonce,
  appendId: `${epoch}:${count}`,
  lines: Array.from({ length: count }, (_, i) => line((more.segment?.base ?? 0) + i + 1)),
  kept: [],
  finished: [{ kind: "call", id: "c", seq: 2 }],
  letters: [{ kind: "message", link: 1, number: 1, from: "t", text: "hello" }],
  wakeAt: 5,
  approvals: 2,
  protocol,
  secrets: [{ kid: "k", secret: "00ff" }],
  ...more,
});

/** Lists the checks of a journal that takes part in moves. */
export const moveChecks: readonly JournalCheck[] = [
  {
    name: "adopts a whole scope: its log, index, messages and secrets, above the epochs of its former store",
    run: async (rig) => {
      const journal = await rig.open();
      const claim = await journal.claim("s", "a", protocol, 7);
      same(claim, { type: "claimed", epoch: 8, seq: 0 }, "a claim above 7");
      same(await movesOf(journal).adopt(adoption(8, "n", 3)), { type: "ok" }, "the adoption");
      const again = await rig.open();
      same(await seqs(again, "s"), [1, 2, 3], "the lines");
      same(await again.find("s", "call", "c"), 2, "the index");
      same(await movesOf(again).index("s"), [{ kind: "call", id: "c", seq: 2 }], "the whole index");
      same((await again.inbox("s")).length, 1, "the messages");
      same(await movesOf(again).secrets("s"), [{ kid: "k", secret: "00ff" }], "the secrets");
      same(await movesOf(again).ended("s", "n"), { type: "received", epoch: 8 }, "how the move ended");
      same(await again.due(5), ["s"], "what is due");
      same((await again.awaitingApproval("", "", 9))[0]?.approvals, 2, "the approvals that it wants");
      same(await one(journal, append("s", 8, 4)), "ok", "the next append");
      same(await seqs(journal, "s", 3), [3, 4], "the lines then");
      same((await journal.verify("s"))?.type, "whole", "the chain");
    },
  },
  {
    name: "replaces a scope that comes back, also after a segment",
    run: async (rig) => {
      const journal = await rig.open();
      await claimed(journal, "s", "a");
      for (const first of [1, 3]) await one(journal, append("s", 1, first, { count: 2 }));
      await journal.snapshot("s", 1, 2, "two");
      await journal.retain("s", 1, [1]);
      await journal.snapshot("s", 1, 4, "four");
      same((await journal.head("s"))?.seq, 4, "the chain's head before");
      const { epoch } = await claimed(journal, "s", "b");
      const segment = { base: 4, hash: "ab", snapshot: "four" };
      const moves = movesOf(journal);
      const back = adoption(epoch, "back", 2, { segment, kept: [line(2)] });
      same(await moves.adopt(back), { type: "ok" }, "the adoption");
      same(await moves.adopt(back), { type: "ok" }, "the same again");
      same(await seqs(journal, "s"), [2, 5, 6], "the lines");
      same(await journal.segment("s"), segment, "the segment");
      same(await journal.load("s", "b"), { epoch, seq: 6 }, "what is held");
      const hash = chain("ab", [line(5).line, line(6).line]);
      same(await journal.head("s"), { seq: 6, hash }, "the chain's head");
      same((await journal.verify("s"))?.type, "whole", "the chain");
      same(await one(journal, append("s", epoch, 7)), "ok", "the next append");
    },
  },
  {
    name: "replaces a log after a segment by a complete one, also of a newer protocol",
    run: async (rig) => {
      const journal = await rig.open();
      const moves = movesOf(journal);
      const { epoch } = await claimed(journal, "s", "a");
      await moves.adopt(adoption(epoch, "one", 2, { segment: { base: 4, hash: "ab", snapshot: "four" } }));
      same(await moves.adopt(adoption(epoch, "two", 3, { protocol: protocol + 1 })), { type: "ok" }, "the adoption");
      same(await seqs(journal, "s"), [1, 2, 3], "the lines");
      same(await journal.segment("s"), undefined, "the segment");
      const newer = { type: "newer_protocol", protocol: protocol + 1 };
      same(await journal.claim("s", "b", protocol), newer, "a claim that does not know its protocol");
    },
  },
  {
    name: "never adopts a declined move, and never declines an adopted one",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      const [moves, others] = [movesOf(journal), movesOf(other)];
      same(await moves.decline("s", "n1"), { type: "never" }, "a move that nobody has heard of");
      const { epoch } = await claimed(other, "s", "a");
      same(await others.adopt(adoption(epoch, "n1", 2)), { type: "never" }, "what was declined");
      same(await seqs(other, "s"), [], "the lines");
      same(await others.adopt(adoption(epoch, "n2", 2)), { type: "ok" }, "another move");
      same(await moves.decline("s", "n2"), { type: "received", epoch }, "what was received");
      same(await moves.ended("s", "n3"), undefined, "a move that has not ended");
    },
  },
  {
    name: "adopts nothing for a fenced owner",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      await claimed(journal, "s", "a");
      await claimed(other, "s", "b");
      same(await movesOf(journal).adopt(adoption(1, "n", 2)), { type: "fenced", epoch: 2 }, "the adoption");
      same(await movesOf(journal).ended("s", "n"), undefined, "how the move ended");
      same(await movesOf(journal).secrets("s"), [], "the secrets");
      same(await one(other, append("s", 2, 1)), "ok", "the other one's append");
    },
  },
];
