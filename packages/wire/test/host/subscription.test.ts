import type { Session } from "@pawl/runtime";
import type { HostFrame } from "@pawl/wire/frame";
import { describe, expect, it } from "vitest";
import type { Outgoing } from "../../src/host/outgoing.ts";
import { Subscription } from "../../src/host/subscription.ts";

const outgoing = () => {
  const sent: HostFrame[] = [];
  const to = { turn: () => Promise.resolve(), mayTakeMore: true, send: (frame: HostFrame) => sent.push(frame) };
  return { sent, to: to as unknown as Outgoing };
};

const sessionWith = (events: number): Session => {
  async function* follow(after: number) {
    for (let seq = after + 1; seq <= events; seq++) yield { seq, at: 0, event: { type: "clock.ticked" } };
  }
  return { follow } as unknown as Session;
};

const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe("a subscription", () => {
  it("is never further ahead than its window, however acknowledgements arrive", async () => {
    const { sent, to } = outgoing();
    const subscription = new Subscription(1, 3, to);
    const ended = subscription.follow(sessionWith(20), 0);
    const ahead = async (seen: number): Promise<number> => {
      subscription.seen(seen);
      await turns();
      return sent.length;
    };
    const told = [0, 1, 1, 0, 3, 2, 100, 8, 9];
    const lengths: number[] = [];
    for (const seen of told) lengths.push(await ahead(seen));
    expect(lengths).toEqual([3, 4, 4, 4, 6, 6, 9, 11, 12]);
    subscription.end();
    await ended;
  });

  it("processes acknowledgements at no higher cost than sends", async () => {
    const { sent, to } = outgoing();
    const subscription = new Subscription(1, Number.MAX_SAFE_INTEGER, to);
    await subscription.follow(sessionWith(100_000), 0);
    expect(sent).toHaveLength(100_000);
    const begun = performance.now();
    for (let i = 0; i < 20_000; i++) subscription.seen(1);
    expect(performance.now() - begun).toBeLessThan(4000); // 100,000 linear searches took more than 7 s.
  });
});
