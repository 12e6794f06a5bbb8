/** The proofs in small: hosts are killed with SIGKILL while they run programs that must not notice. `pnpm proofs` has them at length. */
import { describe, expect, it } from "vitest";
import type { Proof } from "./proof/place.ts";
import { proveAgent, proveSubscription, proveTrip } from "./proof/prove.ts";

const expectProven = ({ wrong }: Proof): void => expect(wrong).toEqual([]);

describe("hosts that are killed", () => {
  it("charge each month of a subscription once, in lives of one call", async () => {
    expectProven(await proveSubscription("subscription", { seed: 3, kills: 10 }));
  });

  it("charge each month of a subscription that is asked for by signals", async () => {
    expectProven(await proveSubscription("signals", { seed: 4, kills: 10 }));
  });

  it("keep an agent that waits for a person", async () => {
    const options = { patience: { suspendMs: 200 } };
    expectProven(await proveAgent({ seed: 5, kills: 10, options }));
  });

  it("go on with the README's tool, however often its first step is killed", async () => {
    const options = { options: { resume_pauses_ms: [0] } };
    expectProven(await proveTrip({ seed: 6, kills: 8, options }, []));
  });
});
