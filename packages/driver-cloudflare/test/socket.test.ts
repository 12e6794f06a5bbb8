/** Clients of an object: their connections stay open while the object is out of memory, and they notice nothing. */
import { Client } from "@pawl/wire";
import { type Claims, signToken } from "@pawl/wire/host";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Agents, sleep } from "./agents.ts";
import { hasWorkerd } from "./workerd.ts";

const secrets = [new Uint8Array(32).fill(9)] as const;
const claims: Claims = {
  by: "ann",
  scopes: ["session:"],
  rights: ["call", "resolve", "approve", "observe", "execute"],
  expires_at: 4_000_000_000_000,
};

/** Time after which workerd takes an object with open sockets out of memory, and some more. */
const asleepMs = 13_000;

describe.skipIf(!hasWorkerd)("a client of an object", () => {
  let agents: Agents;
  const clients: Client[] = [];
  let connections = 0;
  class Counted extends WebSocket {
    constructor(url: string) {
      super(url);
      connections += 1;
    }
  }
  const clientOf = (scope: string, rights: Partial<Claims> = {}): Client => {
    const token = signToken(secrets, { ...claims, ...rights });
    const backoff = { minMs: 50, maxMs: 500 };
    const client = new Client({ url: agents.socketUrl(scope), token, backoff, socket: Counted });
    clients.push(client);
    return client;
  };
  beforeAll(async () => {
    agents = await Agents.open();
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await agents.close();
  });

  it("calls tools, and is refused what its token does not allow", async () => {
    const session = clientOf("session:bob").session("bob");
    const [reply] = await session.request("r1", [{ label: "c", tool: "travel", args: { trip: "bern", steps: 1 } }]);
    expect(reply?.output.outcome.status).toBe("success");
    const other = clientOf("session:bob", { rights: ["observe"] }).session("bob");
    await expect(other.request("r2", [])).rejects.toMatchObject({ code: "permission_denied" });
  });

  it("is told which object has another scope", async () => {
    const client = clientOf("session:bob");
    await expect(client.session("eve").approvals()).rejects.toMatchObject({ code: "owned_by", address: "session:eve" });
  });

  it("waits, follows and watches while the object sleeps, over one connection", async () => {
    connections = 0;
    const session = clientOf("session:zoe").session("zoe");
    const seen: number[] = [];
    const watched: string[] = [];
    const follow = async (): Promise<void> => {
      for await (const { cursor } of session.observe()) seen.push(cursor);
    };
    const watch = async (): Promise<void> => {
      for await (const frame of session.watch())
        watched.push(frame.type === "observed" ? frame.observation.type : frame.type);
    };
    const following = [follow(), watch()].map((one) => one.catch((thrown: unknown) => thrown));
    const replies = session.request("r1", [{ label: "c", tool: "pay", args: { trip: "nice" } }]);
    await agents.until("the approval", async () => (await session.approvals()).length === 1);
    const { answer: before } = await agents.tell("session:zoe", "birth");
    await sleep(asleepMs);
    const { answer: after } = await agents.tell("session:zoe", "birth");
    expect(after).not.toBe(before);
    const heard = seen.length;
    expect((await agents.tell("session:zoe", "approve")).answer).toBe(true);
    const [reply] = await replies;
    expect(reply?.output.outcome).toEqual({ status: "success", payload: "nice/paid" });
    expect(agents.ledger.get("nice/paid")).toHaveLength(1);
    await agents.until("the last events", () => seen.length > heard + 3);
    expect(seen).toEqual(seen.map((_, i) => i + 1));
    expect(watched.filter((what) => what === "gap")).toEqual([]);
    expect(watched).toContain("call_completed");
    expect(connections).toBe(1);
    for (const client of clients) client.close();
    await Promise.all(following);
  });
});
