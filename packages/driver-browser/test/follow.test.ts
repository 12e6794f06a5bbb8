/** The log of a scope as any tab follows it, at the edges of what is there. */
import { getEventListeners } from "node:events";
import { memoryJournal } from "@pawl/runtime";
import type { Append } from "@pawl/runtime/driver";
import { describe, expect, it } from "vitest";
import { News, follow } from "../src/tab/follow.ts";

const scope = "session:s";
const nobody = { hear: () => undefined };

/** A log of so many lines, of which retention has left the last ten. */
const shortened = async (lines: number) => {
  const journal = memoryJournal();
  await journal.claim(scope, "i", 1);
  const append = (first: number, count: number): Append => ({
    scope,
    epoch: 1,
    expectedSeq: first,
    appendId: `1:${first}`,
    lines: Array.from({ length: count }, (_, i) => ({ seq: first + i, line: "{}\n" })),
    finished: [],
    wakeAt: undefined,
    protocol: 1,
    messages: [],
    received: [],
  });
  await journal.appendAll([append(1, lines - 10), append(lines - 9, 10)]);
  await journal.snapshot(scope, 1, lines - 10, "{}");
  await journal.retain(scope, 1, []);
  return journal;
};

describe("who follows a scope in a tab", () => {
  it.each([100, 2000])("from before what retention left of %i lines is told that it is gone", async (lines) => {
    const journal = await shortened(lines);
    const left = new AbortController();
    const next = follow(journal, new News(nobody), { scope, after: 0 }, left.signal).next();
    await expect(next).rejects.toMatchObject({ code: "gone" });
    expect(getEventListeners(left.signal, "abort")).toHaveLength(0);
  });

  it("that has nothing yet waits, and leaves when it is told to", async () => {
    const left = new AbortController();
    const next = follow(memoryJournal(), new News(nobody), { scope, after: 0 }, left.signal).next();
    await new Promise((resolve) => setImmediate(resolve));
    left.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});
