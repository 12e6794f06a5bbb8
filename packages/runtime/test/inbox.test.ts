/** The letters of one scope: taken in their order, and out of its inbox before anybody hears that they are. */
import { describe, expect, it } from "vitest";
import { Inbox } from "../src/message/inbox.ts";
import type { InboxMessage } from "../src/journal/journal.ts";

const letter = (number: number): InboxMessage => ({ from: "s", kind: "message", link: 1, number, text: "" });

const quiet = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

/** An inbox with so many letters; what is taken lies there until it is written. */
const begin = (count: number, isTaken: (number: number) => boolean = () => true) => {
  const taken: number[] = [];
  const written: PromiseWithResolvers<void>[] = [];
  const lying = { letters: Array.from({ length: count }, (_, i) => letter(i + 1)) };
  const inbox = new Inbox({
    messages: async () => lying.letters,
    take: async ({ number }) => {
      taken.push(number);
      return isTaken(number);
    },
    whenDurable: () => {
      const one = Promise.withResolvers<void>();
      written.push(one);
      return one.promise;
    },
  });
  return { inbox, lying, taken, written };
};

describe("an inbox", () => {
  it("is taken letter by letter, and is empty when that is written", async () => {
    const { inbox, taken, written } = begin(3);
    const said: unknown[] = [];
    void inbox.look().then((isEmpty) => said.push(isEmpty));
    await quiet();
    expect([taken, said]).toEqual([[1, 2, 3], []]);
    written[0]?.resolve();
    await quiet();
    expect(said).toEqual([true]);
  });

  it("is looked at once more by the same round where somebody asks meanwhile, and only then", async () => {
    const { inbox, lying, taken, written } = begin(1);
    const rounds = [inbox.look(), inbox.look()];
    await quiet();
    expect(taken).toEqual([1]);
    void inbox.look();
    lying.letters = [letter(2)];
    written[0]?.resolve();
    await quiet();
    expect(taken).toEqual([1, 2]);
    written[1]?.resolve();
    expect(await Promise.all(rounds)).toEqual([true, true]);
    expect(written).toHaveLength(2);
  });

  it("is not empty where a letter could not be taken, as of the last time that it was looked at", async () => {
    let isTaken = false;
    const { inbox, taken, written } = begin(2, (number) => number === 1 || isTaken);
    const first = inbox.look();
    await quiet();
    written[0]?.resolve();
    expect(await first).toBe(false);
    const second = inbox.look();
    await quiet();
    isTaken = true;
    void inbox.look();
    written[1]?.resolve();
    await quiet();
    written[2]?.resolve();
    expect([await second, taken]).toEqual([true, [1, 2, 1, 2, 1, 2]]);
  });

  it("is looked at anew after its scope was lost", async () => {
    const { inbox, taken, written } = begin(1);
    const lost = expect(inbox.look()).rejects.toThrow("lost");
    await quiet();
    written[0]?.reject(new Error("lost"));
    await lost;
    const again = inbox.look();
    await quiet();
    written[1]?.resolve();
    expect([await again, taken]).toEqual([true, [1, 1]]);
  });
});
