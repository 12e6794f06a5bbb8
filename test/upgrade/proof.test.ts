/** The proofs in small: hosts are killed with SIGKILL while they run programs that must not notice. `pnpm proofs` has them at length. */
import { describe, expect, it } from "vitest";
import type { Proof } from "./proof/place.ts";
import { proveReleases } from "./proof/releases.ts";
import { proveAgent, proveSubscription, proveTrip } from "./proof/prove.ts";

const expectProven = ({ wrong }: Proof): void => expect(wrong).toEqual([]);

const hasty = { patience: { suspendMs: 200 } } as const;

describe("hosts that are killed", () => {
  it.concurrent("charge each month of a subscription once, in lives of one call", async () => {
    expectProven(await proveSubscription("subscription", { seed: 3, kills: 10 }));
  });

  it.concurrent("charge each month of a subscription that is asked for by signals", async () => {
    expectProven(await proveSubscription("signals", { seed: 4, kills: 10 }));
  });

  it.concurrent("keep an agent that waits for a person", async () => {
    expectProven(await proveAgent({ seed: 5, kills: 10, options: hasty }));
  });

  it.concurrent("go on with the README's tool, however often its first step is killed", async () => {
    const pausesMs = [0, 0, 300];
    const options = { options: { crashPausesMs: pausesMs } };
    expectProven(await proveTrip({ kills: 8, pausesMs, options }));
  });

  it.concurrent("are replaced by five releases, and lose no parked session", async () => {
    expectProven(await proveReleases({ sessions: 24 }));
  });
});

/** Protocol 1 is as it was: these programs are why there is a second one. */
describe("hosts that are killed, under protocol 1", () => {
  it.concurrent("charge one month of three", async () => {
    const { wrong } = await proveSubscription("subscription", { seed: 3, kills: 1, options: { upgrade: "never" } });
    expect(new Set(wrong.map((one) => one.replace(/^[^:]*: /, "")))).toEqual(new Set(["1 of 3 charges, success"]));
  });

  it.concurrent("fail an agent that waits for a person", async () => {
    const options = { upgrade: "never", options: { resumePausesMs: [0, 0, 0] }, ...hasty } as const;
    const { wrong } = await proveAgent({ seed: 5, kills: 6, options });
    expect(wrong[0]).toContain("ended while it waited");
  });
});
