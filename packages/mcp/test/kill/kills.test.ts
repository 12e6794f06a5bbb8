/** A server dies in each state of a task; the next process has lost nothing, and does nothing twice. */
import { expect, it } from "vitest";
import { runKills } from "./kills.ts";

it("12 kills, two in each state of a task: every task comes to its end, once", async () => {
  expect(await runKills(12)).toEqual({ kills: 12, wrong: [] });
}, 120_000);
