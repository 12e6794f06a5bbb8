/** Checks of ownership: leases, claims, and fencing. */
import { type JournalCheck, append, claimed, one, protocol, same, seqs } from "./rig.ts";

const lease = { ttlMs: 1000, protocol };

const released = { lastOwner: "released" } as const;
const lost = { lastOwner: "lost" } as const;

export const leaseChecks: readonly JournalCheck[] = [
  {
    name: "raises the epoch with each claim, and fences older owners",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      await claimed(journal, "s", "a");
      await one(journal, append("s", 1, 1));
      same(await other.claim("s", "b", protocol), { type: "claimed", ...lost, epoch: 2, seq: 1 }, "the second claim");
      same(await journal.appendAll([append("s", 1, 2)]), [{ type: "fenced", epoch: 2 }], "an append of the older");
      same(await one(other, append("s", 2, 2)), "ok", "an append of the newer one");
      same(await seqs(journal, "s"), [1, 2], "the lines");
    },
  },
  {
    name: "fences a former owner in the same process, after single appends",
    run: async (rig) => {
      const journal = await rig.open();
      await claimed(journal, "s", "a");
      for (const seq of [1, 2]) await one(journal, append("s", 1, seq));
      await claimed(journal, "s", "b");
      same(await journal.appendAll([append("s", 1, 3)]), [{ type: "fenced", epoch: 2 }], "an append of the older");
      same(await one(journal, append("s", 2, 3)), "ok", "an append of the newer one");
      same(await one(journal, append("s", 1, 4)), "fenced", "another append of the older");
      same(await seqs(journal, "s"), [1, 2, 3], "the lines");
    },
  },
  {
    name: "fences an instance that never claimed",
    run: async (rig) => {
      const journal = await rig.open();
      same(await one(journal, append("s", 0, 1)), "fenced", "an append of epoch 0");
      same(await one(journal, append("s", 1, 1)), "fenced", "an append of epoch 1");
      await claimed(journal, "t", "a");
      const messages = [{ to: "s", kind: "message", link: 1, number: 1, text: "hello" }] as const;
      await one(journal, append("t", 1, 1, { messages }));
      same(await one(journal, append("s", 0, 1)), "fenced", "an append of epoch 0, where only a message lies");
      same(await journal.snapshot("s", 0, 1, ""), { type: "fenced", epoch: 0 }, "a snapshot of epoch 0");
    },
  },
  {
    name: "claims above an epoch from elsewhere",
    run: async (rig) => {
      const journal = await rig.open();
      same(await journal.claim("s", "a", protocol, 7), { type: "claimed", epoch: 8, seq: 0 }, "above 7");
      same(await journal.claim("s", "a", protocol, 3), { type: "claimed", epoch: 9, seq: 0 }, "above 3, at 8");
    },
  },
  {
    name: "orders a claim and an append one way or the other",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      await claimed(journal, "s", "a");
      const [results, claim] = await Promise.all([journal.appendAll([append("s", 1, 1)]), claimed(other, "s", "b")]);
      const isAppended = results[0]?.type === "ok";
      same(await seqs(journal, "s"), isAppended ? [1] : [], "the lines");
      same(claim.epoch, 2, "the epoch");
      same(claim.seq, isAppended ? 1 : 0, "the sequence that the claim was told");
      same(
        await one(journal, append("s", 1, isAppended ? 2 : 1, { appendId: "late" })),
        "fenced",
        "an append after it",
      );
    },
  },
  {
    name: "keeps a scope for its owner while the lease holds, and tells its address",
    needs: "leases",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      await journal.join("a", { ...lease, address: "ws://a" });
      await other.join("b", lease);
      await claimed(journal, "s", "a");
      const owned = { type: "owned_by", instance: "a", address: "ws://a" };
      same(await other.claim("s", "b", protocol), owned, "a claim while the lease holds");
      rig.pass(999);
      same(await journal.renew("a"), true, "a renewal in time");
      rig.pass(999);
      same(await other.claim("s", "b", protocol), owned, "a claim after the renewal");
      same(await one(journal, append("s", 1, 1)), "ok", "an append of its owner");
      same((await claimed(journal, "s", "a")).epoch, 2, "the owner's next claim");
    },
  },
  {
    name: "gives a scope to the next instance when the lease has expired, and fences the former",
    needs: "leases",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      await journal.join("a", lease);
      await claimed(journal, "s", "a");
      await claimed(journal, "t", "a");
      rig.pass(1000);
      same(await other.lost(), ["a"], "the lost instances");
      same(await journal.renew("a"), false, "a renewal too late");
      same((await claimed(other, "s", "b")).epoch, 2, "the next claim");
      same(await one(journal, append("s", 1, 1)), "fenced", "an append of the one before");
      same(await one(journal, append("t", 1, 1)), "ok", "an append where nobody claimed");
      await other.leave("a");
      same(await other.lost(), [], "the lost instances, once that one has left");
    },
  },
  {
    name: "lets an instance join again and keep the scopes that nobody has claimed since",
    needs: "leases",
    run: async (rig) => {
      const journal = await rig.open();
      await journal.join("a", lease);
      await claimed(journal, "s", "a");
      rig.pass(5000);
      await journal.join("a", lease);
      same(await journal.lost(), [], "the lost instances");
      same((await journal.claim("s", "b", protocol)).type, "owned_by", "the claim of another");
    },
  },
  {
    name: "loads a scope for its owner only, in the same epoch, until it is released",
    needs: "leases",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      await journal.join("a", lease);
      await claimed(journal, "s", "a");
      await one(journal, append("s", 1, 1, { count: 2 }));
      same(await journal.load("s", "a"), { epoch: 1, seq: 2 }, "what its owner loads");
      same(await other.load("s", "b"), undefined, "what another one loads");
      same(await journal.load("t", "a"), undefined, "what is loaded of a scope that does not exist");
      await other.release("s", "b");
      same((await other.claim("s", "b", protocol)).type, "owned_by", "a claim after another one's release");
      await journal.release("s", "a");
      same(await journal.load("s", "a"), undefined, "what is loaded after the release");
      const claim = await other.claim("s", "b", protocol);
      same(claim, { type: "claimed", ...released, epoch: 2, seq: 2 }, "a claim after the release");
    },
  },
  {
    name: "says that the last owner released a scope, to whoever claims it before the next append",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      await journal.join("a", lease);
      await claimed(journal, "s", "a");
      await one(journal, append("s", 1, 1));
      await journal.release("s", "a");
      same(await other.claim("s", "b", protocol), { type: "claimed", ...released, epoch: 2, seq: 1 }, "the next claim");
      const again = { type: "claimed", ...released, epoch: 3, seq: 1 };
      same(await other.claim("s", "c", protocol), again, "the claim after one that wrote nothing");
      await one(other, append("s", 3, 2));
      same(await journal.claim("s", "d", protocol), { type: "claimed", ...lost, epoch: 4, seq: 2 }, "after an append");
    },
  },
  {
    name: "says that an owner was lost whose lease ran out, that left without a release, or that claims anew itself",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      await journal.join("a", lease);
      for (const scope of ["s", "t", "u"]) {
        await claimed(journal, scope, "a");
        await one(journal, append(scope, 1, 1));
      }
      const wanted = { type: "claimed", ...lost, epoch: 2, seq: 1 };
      same(await journal.claim("u", "a", protocol), wanted, "a claim by the owner itself");
      rig.pass(1000);
      same(await other.claim("s", "b", protocol), wanted, "a claim after the lease ran out");
      await journal.join("a", lease);
      await journal.leave("a");
      same(await other.claim("t", "b", protocol), wanted, "a claim after it left");
    },
  },
  {
    name: "takes no release from an owner whose scope another has claimed",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      await claimed(journal, "s", "a");
      await one(journal, append("s", 1, 1));
      await claimed(other, "s", "b");
      await journal.release("s", "a");
      same(await other.claim("s", "c", protocol), { type: "claimed", ...lost, epoch: 3, seq: 1 }, "the next claim");
    },
  },
  {
    name: "frees all scopes of an instance that leaves",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      await journal.join("a", lease);
      await claimed(journal, "s", "a");
      await journal.leave("a");
      same((await claimed(other, "s", "b")).epoch, 2, "the next claim");
      await journal.join("a", lease);
      same(await journal.load("s", "a"), undefined, "what it loads when it is back");
    },
  },
  {
    name: "lists due scopes and scopes with messages to those who may open them",
    needs: "leases",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      await journal.join("a", lease);
      await other.join("b", lease);
      await claimed(journal, "s", "a");
      const messages = [{ to: "s", kind: "message", link: 1, number: 1, text: "hello" }] as const;
      await one(journal, append("s", 1, 1, { wakeAt: 1, messages }));
      same([await journal.due(1, "a"), await journal.mailed("a")], [["s"], ["s"]], "to its owner");
      same([await other.due(1, "b"), await other.mailed("b")], [[], []], "to another one");
      same([await other.due(1), await other.mailed()], [[], []], "to an anonymous reader");
      rig.pass(1000);
      same([await other.due(1, "b"), await other.mailed("b")], [["s"], ["s"]], "when the lease has expired");
    },
  },
  {
    name: "says which protocol every live instance knows, where that is older than the claimant's",
    needs: "leases",
    run: async (rig) => {
      const [journal, other] = [await rig.open(), await rig.open()];
      const known = async (by: string, newest = protocol): Promise<number | undefined> => {
        const claim = await journal.claim(`scope of ${by}`, by, newest);
        return claim.type === "claimed" ? claim.known : NaN;
      };
      same(await known("nobody"), undefined, "where nobody has joined");
      await journal.join("a", lease);
      same(await known("a"), undefined, "where all know the newest");
      await other.join("b", { ttlMs: 1000, protocol: 2 });
      same([await known("a"), await known("a", 2)], [2, undefined], "where one knows 2");
      await other.join("old", { ttlMs: 1000 });
      same([await known("a"), await known("b", 2), await known("old", 1)], [1, 1, undefined], "where one says nothing");
      rig.pass(900);
      await journal.renew("a");
      await other.renew("old");
      rig.pass(900);
      same(await known("a"), 1, "after renewals, while the one that says nothing lives");
      await other.leave("old");
      same(await known("a"), undefined, "when that one has left, and the lease of the other has run out");
      await other.join("a", { ttlMs: 1000, protocol: 2 });
      same(await known("c"), 2, "when an instance has joined again, as an older one");
    },
  },
  {
    name: "refuses a claim below the scope's protocol",
    run: async (rig) => {
      const journal = await rig.open();
      await claimed(journal, "s", "a");
      await one(journal, append("s", 1, 1, { protocol: 4 }));
      same(await journal.claim("s", "b", 3), { type: "newer_protocol", protocol: 4 }, "a claim that knows 3");
      same(await one(journal, append("s", 1, 2, { protocol: 4 })), "ok", "an append of the owner");
      same(await journal.claim("s", "b", 4), { type: "claimed", ...lost, epoch: 2, seq: 2 }, "a claim that knows 4");
    },
  },
];
