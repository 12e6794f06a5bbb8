/**
 * Checks of inboxes. A message appears with the append that sends it, and disappears with the append that has received
 * it.
 */
import type { OutboxMessage } from "@pawl/runtime/driver";
import { type JournalCheck, append, claimed, one, same, seqs } from "./rig.ts";

const message = (kind: "message" | "answer", number: number, text: string): OutboxMessage => ({
  to: "t",
  kind,
  link: 1,
  number,
  text,
});

export const mailChecks: readonly JournalCheck[] = [
  {
    name: "puts messages into inboxes with the append that sends them, in order",
    run: async (rig) => {
      const journal = await rig.open();
      await claimed(journal, "s", "a");
      const messages = [message("message", 1, "one"), message("answer", 1, "yes"), message("message", 2, "two")];
      await one(journal, append("s", 1, 1, { messages }));
      const lying = messages.map(({ kind, link, number, text }) => ({ from: "s", kind, link, number, text }));
      const found = (await journal.inbox("t")).map(({ from, kind, link, number, text }) => {
        return { from, kind, link, number, text };
      });
      same(found, lying, "the inbox");
      same(await journal.mailed("a"), ["t"], "scopes with messages");
      same(await journal.inbox("s"), [], "the sender's own inbox");
    },
  },
  {
    name: "keeps the newest message of a name, in the place of the first",
    run: async (rig) => {
      const journal = await rig.open();
      await claimed(journal, "s", "a");
      const messages = [message("message", 1, "first"), message("message", 2, "second")];
      await one(journal, append("s", 1, 1, { messages }));
      await one(journal, append("s", 1, 2, { messages: [message("message", 1, "again")] }));
      same(
        (await journal.inbox("t")).map(({ text }) => text),
        ["again", "second"],
        "the inbox",
      );
    },
  },
  {
    name: "removes a message with the append that has received it, and no other",
    run: async (rig) => {
      const journal = await rig.open();
      await claimed(journal, "s", "a");
      await claimed(journal, "t", "a");
      const id = { kind: "message", link: 1, number: 1 } as const;
      const messages = [1, 2].map((number) => ({ ...id, to: "t", number, text: `${number}` }));
      await one(journal, append("s", 1, 1, { messages }));
      const received = [{ ...id, from: "s" }];
      same(await one(journal, append("t", 1, 2, { received })), "conflict", "an append that does not follow");
      same((await journal.inbox("t")).length, 2, "the messages after it");
      same(await one(journal, append("t", 1, 1, { received })), "ok", "an append that follows");
      same(
        (await journal.inbox("t")).map(({ number }) => number),
        [2],
        "the messages after that",
      );
      const last = { received: [{ ...id, number: 2, from: "s" }] };
      same(await one(journal, append("t", 1, 2, last)), "ok", "the append after it, of the same owner");
      same(await journal.inbox("t"), [], "the messages after the last");
    },
  },
  {
    name: "accepts an append of messages only, repeatedly, and counts no event",
    run: async (rig) => {
      const journal = await rig.open();
      await claimed(journal, "s", "a");
      await claimed(journal, "t", "a");
      await one(journal, append("s", 1, 1, { wakeAt: 7, messages: [message("message", 1, "one")] }));
      const id = { kind: "message", link: 1, number: 1, from: "s" } as const;
      const messages = [{ to: "s", kind: "answer", link: 1, number: 1, text: "again" } as const];
      const mail = append("t", 1, 1, { count: 0, messages, received: [id] });
      same([await one(journal, mail), await one(journal, mail)], ["ok", "ok"], "messages only, twice");
      same([await journal.inbox("t"), (await journal.inbox("s")).length], [[], 1], "the inboxes");
      same(await one(journal, append("s", 1, 2, { count: 0, received: [] })), "ok", "nothing at all");
      same(await journal.due(7), ["s"], "what was due before");
      same(await one(journal, append("t", 1, 1)), "ok", "the next event");
      same(await seqs(journal, "t"), [1], "the lines");
      same(
        await one(journal, append("t", 2, 2, { count: 0 })),
        "fenced",
        "messages of an instance that does not own the scope",
      );
      same(await one(journal, append("t", 1, 4, { count: 0 })), "conflict", "messages that do not follow");
    },
  },
  {
    name: "lists as many due scopes, and scopes with messages, as are asked for",
    run: async (rig) => {
      const journal = await rig.open();
      for (const [i, scope] of ["a", "b", "c"].entries()) {
        await claimed(journal, scope, "one");
        const messages = [1, 2].map((number) => ({ ...message("message", number, "hello"), to: scope }));
        await one(journal, append(scope, 1, 1, { wakeAt: 9 - i, messages }));
      }
      same(await journal.due(9, "one", 2), ["c", "b"], "the two that are due first");
      same((await journal.mailed("one", 2)).length, 2, "two of those with messages");
      same((await journal.mailed("one")).toSorted(), ["a", "b", "c"], "all with messages");
    },
  },
];
