/** Checks of queues: order, fairness, limits over several instances, and places of instances that are gone. */
import type { Journal } from "@pawl/runtime";
import type { QueueStore, WantedPlace } from "@pawl/runtime/driver";
import { type JournalCheck, type JournalRig, claimed, protocol, same } from "./rig.ts";

const lease = { ttlMs: 1000, protocol };

/** One instance on the store: it asks in rounds, and owns the scopes that it names. */
class Host {
  readonly journal: Journal;
  readonly name: string;
  readonly #queues: QueueStore;
  #round = 0;

  private constructor(journal: Journal, name: string, queues: QueueStore) {
    this.journal = journal;
    this.name = name;
    this.#queues = queues;
  }

  static async join(rig: JournalRig, name: string, ...scopes: readonly string[]): Promise<Host> {
    const journal = await rig.open();
    if (journal.queues === undefined) throw new Error("expected a store with queues, found one without");
    await journal.join(name, lease);
    for (const scope of scopes) await claimed(journal, scope, name);
    return new Host(journal, name, journal.queues);
  }

  /** Asks for places, and returns the names of those that were granted. */
  async ask(...wanted: readonly WantedPlace[]): Promise<readonly string[]> {
    const { granted } = await this.askAgain(...wanted);
    this.#round += 1;
    return granted;
  }

  /** Asks under the number of the round, which stays: as if the answer was lost. */
  async askAgain(
    ...wanted: readonly WantedPlace[]
  ): Promise<{ granted: readonly string[]; againMs: number | undefined }> {
    const queues = [...new Set([...wanted.map(({ queue }) => queue), "q"])];
    const { granted, againMs } = await this.#queues.advance(this.name, this.#round, queues, wanted);
    return { granted: granted.map(({ scope, call }) => `${scope} ${call}`).toSorted(), againMs };
  }

  restart(): void {
    this.#round = 0;
  }

  leave(scope: string, ...calls: readonly string[]): Promise<void> {
    return this.#queues.leave(
      this.name,
      calls.map((call) => ({ scope, call })),
    );
  }

  async standing(scope: string): Promise<readonly string[]> {
    return (await this.#queues.standing(scope)).map(({ call, before }) => `${call} ${before ?? "has its place"}`);
  }
}

const one = (scope: string, call: string, more: Partial<WantedPlace> = {}): WantedPlace => ({
  scope,
  call,
  queue: "q",
  concurrency: 1,
  priority: 0,
  since: 1,
  ...more,
});

/** Lists the checks of queues, for stores that have them. */
export const limitChecks: readonly JournalCheck[] = [
  {
    name: "lets as many calls have a place as the limit says, over two instances",
    run: async (rig) => {
      const [a, b] = [await Host.join(rig, "a", "s"), await Host.join(rig, "b", "t")];
      const two = { concurrency: 2 };
      same(await a.ask(one("s", "1", two), one("s", "2", two), one("s", "3", two)), ["s 1", "s 2"], "the first two");
      same(await b.ask(one("t", "1", two)), [], "one more, of another instance");
      await a.leave("s", "1");
      same(await b.ask(), [], "that of b, before its turn");
      same(await a.ask(), ["s 3"], "the next of a");
      await a.leave("s", "2");
      same(await b.ask(), ["t 1"], "that of b, now");
    },
  },
  {
    name: "orders calls by priority, then by turns of their sessions, then by age",
    run: async (rig) => {
      const a = await Host.join(rig, "a", "s", "t");
      same(await a.ask(one("s", "first")), ["s first"], "the first");
      await a.ask(one("s", "young", { since: 9 }), one("s", "later"), one("t", "old", { since: 2 }));
      await a.ask(one("t", "urgent", { priority: 5, since: 99 }));
      same(await a.standing("s"), ["first has its place", "later 3", "young 2"], "the calls of s");
      same(await a.standing("t"), ["old 1", "urgent 0"], "the calls of t");
      const order: string[] = [];
      for (let last = "s first"; order.length < 4; last = order.at(-1) ?? "") {
        const [scope = "", call = ""] = last.split(" ");
        await a.leave(scope, call);
        order.push(...(await a.ask()));
      }
      same(order, ["t urgent", "t old", "s young", "s later"], "the order");
    },
  },
  {
    name: "lets sessions take turns: one with many calls holds up another by one",
    run: async (rig) => {
      const a = await Host.join(rig, "a", "s", "t");
      await a.ask(...Array.from({ length: 20 }, (_, i) => one("s", String(i).padStart(2, "0"))));
      await a.ask(one("t", "x", { since: 50 }), one("t", "y", { since: 51 }));
      const order: string[] = [];
      for (let last = "s 00"; order.length < 5; last = order.at(-1) ?? "") {
        const [scope = "", call = ""] = last.split(" ");
        await a.leave(scope, call);
        order.push(...(await a.ask()));
      }
      same(order, ["s 01", "t x", "s 02", "t y", "s 03"], "the order");
    },
  },
  {
    name: "does not let one that comes later go before one that was there",
    run: async (rig) => {
      const [a, b] = [await Host.join(rig, "a", "s"), await Host.join(rig, "b", "t")];
      await a.ask(one("s", "1"));
      await b.ask(one("t", "1"));
      await a.leave("s", "1");
      same(await a.ask(one("s", "2")), [], "a newcomer, while the one before has not asked yet");
      same(await b.ask(), ["t 1"], "the one before");
    },
  },
  {
    name: "gives the same round the same answer",
    run: async (rig) => {
      const a = await Host.join(rig, "a", "s");
      await a.ask();
      same((await a.askAgain(one("s", "1"))).granted, ["s 1"], "the answer that is lost");
      same((await a.askAgain(one("s", "1"))).granted, ["s 1"], "the answer to the same round");
      same(await a.ask(one("s", "1"), one("s", "2")), ["s 1"], "with one more call in line");
      same(await a.ask(), [], "the next round");
    },
  },
  {
    name: "frees the places of an instance whose lease has ended, and forgets its calls in line",
    needs: "leases",
    run: async (rig) => {
      const [a, b] = [await Host.join(rig, "a", "s"), await Host.join(rig, "b", "t")];
      same(await a.ask(one("s", "1"), one("s", "2")), ["s 1"], "the first");
      same(await b.ask(one("t", "1")), [], "while the lease holds");
      rig.pass(999);
      await b.journal.renew("b");
      same(await b.ask(), [], "at the end of the lease");
      rig.pass(1);
      same(await b.ask(), ["t 1"], "after it");
      same(await a.ask(one("s", "3")), [], "the one that is gone");
      await a.leave("s", "1");
      same(await b.standing("t"), ["1 has its place"], "where b stands");
    },
  },
  {
    name: "frees the places of an instance that leaves, and of one that begins anew",
    run: async (rig) => {
      const [a, b] = [await Host.join(rig, "a", "s"), await Host.join(rig, "b", "t")];
      await a.ask(one("s", "1"));
      a.restart();
      same(await a.ask(), [], "nothing in line after the restart");
      same(await b.ask(one("t", "1")), ["t 1"], "the place that was the other's");
      await b.journal.leave("b");
      same(await a.ask(one("s", "2")), ["s 2"], "after the other has left");
    },
  },
  {
    name: "takes a call over with its scope, and grants nothing to its former owner",
    run: async (rig) => {
      const [a, b] = [await Host.join(rig, "a", "s", "u"), await Host.join(rig, "b")];
      await a.ask(one("u", "1"), one("s", "1"));
      await a.journal.release("s", "a");
      await claimed(b.journal, "s", "b");
      same(await b.ask(one("s", "1")), [], "the new owner, in line");
      await a.leave("u", "1");
      same(await a.ask(one("s", "1")), [], "the former owner");
      same(await b.ask(), ["s 1"], "the new owner");
      await a.leave("s", "1");
      same(await b.standing("s"), ["1 has its place"], "after the former owner left");
    },
  },
  {
    name: "lets so many begin in a second, whether they have ended or not",
    needs: "leases",
    run: async (rig) => {
      const a = await Host.join(rig, "a", "s");
      const wanted = ["1", "2", "3"].map((call) => {
        const { concurrency: _, ...place } = one("s", call, { perSecond: 2 });
        return place;
      });
      await a.ask();
      const begun = await a.askAgain(...wanted);
      same(begun, { granted: ["s 1", "s 2"], againMs: 1000 }, "the first two, and when to ask again");
      await a.ask();
      await a.leave("s", "1", "2");
      rig.pass(600);
      same((await a.askAgain()).againMs, 400, "the time that is left");
      same(await a.ask(), [], "within the second");
      await a.journal.renew("a");
      rig.pass(400);
      same(await a.ask(), ["s 3"], "after it");
    },
  },
  {
    name: "keeps queues apart, with limits of their own",
    run: async (rig) => {
      const a = await Host.join(rig, "a", "s");
      const other = (call: string): WantedPlace => one("s", call, { queue: "q/\u0000other" });
      same(await a.ask(one("s", "1"), other("2"), other("3")), ["s 1", "s 2"], "one of each");
    },
  },
];
