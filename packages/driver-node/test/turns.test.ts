/** Consecutive turns: each one comes before the next, and the rest of the event loop runs in between. */
import { expect, it } from "vitest";
import { followingTurn } from "../src/platform.ts";

const inTurns = (turns: number, each: (n: number) => void): Promise<void> =>
  new Promise((resolve) => {
    const take = (n: number): void => {
      each(n);
      if (n < turns) followingTurn(() => take(n + 1));
      else resolve();
    };
    followingTurn(() => take(1));
  });

it("runs promises and ticks of a turn before the next, in order", async () => {
  const heard: string[] = [];
  await inTurns(40, (n) => {
    heard.push(`turn ${n}`);
    void Promise.resolve()
      .then(() => undefined)
      .then(() => heard.push(`promise ${n}`));
    process.nextTick(() => heard.push(`tick ${n}`));
  });
  await new Promise((resolve) => setImmediate(resolve));
  const turns = Array.from({ length: 40 }, (_, i) => i + 1);
  expect(heard).toEqual(turns.flatMap((n) => [`turn ${n}`, `tick ${n}`, `promise ${n}`]));
});

it("lets the rest of the loop run after at most eight", async () => {
  let others = 0;
  let isOver = false;
  const other = (): void => {
    others += 1;
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  await inTurns(800, () => undefined);
  isOver = true;
  expect(others).toBeGreaterThanOrEqual(100);
});

it("runs each turn once if two sequences run at once", async () => {
  const counts = [0, 0];
  await Promise.all([0, 1].map((row) => inTurns(100, () => void (counts[row] = (counts[row] ?? 0) + 1))));
  expect(counts).toEqual([100, 100]);
});
