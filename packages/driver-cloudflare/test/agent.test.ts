/** Agents in objects: they do their work once, whoever kills workerd meanwhile, and with nobody asking again. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Agents, effectsOf } from "./agents.ts";
import { hasWorkerd } from "./workerd.ts";

describe.skipIf(!hasWorkerd)("an agent in an object", () => {
  let agents: Agents;
  beforeAll(async () => {
    agents = await Agents.open();
  });
  afterAll(() => agents.close());

  const travel = { trip: "oslo", steps: 2 };

  it("runs a tool with steps, a sleep, a process in another object, and branches", async () => {
    const { answer } = await agents.tell("session:ann", "ask", "r1", "travel", travel);
    expect(answer).toEqual({ status: "success", payload: effectsOf("oslo", 2) });
    expect([...agents.ledger.values()].map((keys) => keys.length)).toEqual([1, 1, 1, 1, 1]);
  });

  it("answers the same request from its record, once it was evicted", async () => {
    const first = await agents.tell("session:ann", "ask", "r1", "travel", travel);
    await agents.tell("session:ann", "evict");
    expect(await agents.tell("session:ann", "ask", "r1", "travel", travel)).toEqual(first);
    expect(agents.ledger.get("oslo/1")).toHaveLength(1);
  });

  it("waits for an approval over a kill", async () => {
    const lost = agents.tell("session:eve", "ask", "r1", "pay", { trip: "rome" }).catch(() => "gone");
    await agents.until("the approval", async () => (await agents.tell("session:eve", "waiting")).answer === 1);
    await agents.kill();
    expect(await lost).toBe("gone");
    expect(agents.ledger.get("rome/paid")).toBeUndefined();
    await agents.start();
    expect((await agents.tell("session:eve", "approve")).answer).toBe(true);
    const { answer } = await agents.tell("session:eve", "ask", "r1", "pay", { trip: "rome" });
    expect(answer).toEqual({ status: "success", payload: "rome/paid" });
    expect(agents.ledger.get("rome/paid")).toHaveLength(1);
  });

  it("goes on by itself after kills, does every effect, and none more often than once for each kill", async () => {
    expect(await agents.roundOfKills(["lviv", "kyiv", "odesa"], 3, (kill) => 150 + kill * 200)).toEqual([]);
  });

  it("says that it knows nothing of scopes that are elsewhere", async () => {
    const { answer } = await agents.tell("session:ann", "refusals", "session:eve");
    expect(answer).toEqual(["not_here", "not_here", "not_here", "owned_by"]);
  });

  it("is not woken any more once all is done", async () => {
    await agents.until("quiet", async () => (await agents.tell("session:lviv", "isQuiet")).answer === true);
  });
});
