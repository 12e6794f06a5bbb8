/** One round of some attacks, from a seed. `pnpm hostile` runs them all, for minutes or hours. */
import { expect, it } from "vitest";
import { runHostile } from "./attacks.ts";

const brief = [
  "frames that are bombs",
  "forged tokens",
  "rights of others",
  "patterns",
  "spellings of addresses",
  "executors that lie",
  "tools that never end",
  "damaged files",
  "a journal that is gone",
];

it.each(brief)(
  "a host holds against %s",
  async (attack) => {
    const rows = await runHostile({ seed: 1, ms: 0, only: (name) => name === attack });
    expect(rows).toMatchObject([{ attack, rounds: 1, wrong: [] }]);
    expect(rows[0]?.tried).toBeGreaterThan(2);
  },
  120_000,
);
