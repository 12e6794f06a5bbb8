/** Clients that are redirected to the owner of a scope: two hosts over one file, and over two. */
import { Runtime, type ToolDefinition } from "@pawl/runtime";
import { type Client, moverOver } from "@pawl/wire";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { type Host, nodePlatform, sqliteJournal } from "../../src/index.ts";
import { testFolder } from "../sqlite-rig.ts";
import { clientOf, everything, hostOf, roots } from "./rig.ts";
import { echo, outside, payloads, use } from "./tools.ts";
import { until } from "../until.ts";

const folder = testFolder();
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});
afterAll(folder.remove);

const ok = (payload: unknown) => ({ status: "ok", payload: payload as never }) as const;

interface Place {
  readonly runtime: Runtime;
  readonly host: Host;
  /** Stops it as the end of its process would. */
  readonly stop: () => Promise<void>;
}

let files = 0;
const newFile = (): string => folder.file(`follow-${(files += 1)}.db`);

const placeOn = async (file: string, instance: string, tools: readonly ToolDefinition[]): Promise<Place> => {
  const journal = sqliteJournal(file);
  const lease = { ttlMs: 60_000 };
  const runtime = new Runtime({ journal, platform: nodePlatform, tools, instance, roots, lease });
  const host = await hostOf([], { runtime });
  const stop = async (): Promise<void> => {
    await host.close();
    await runtime.close();
    await journal.close();
  };
  ends.push(async () => stop().catch(() => undefined)); // Stopped already, perhaps.
  return { runtime, host, stop };
};

/** Makes two hosts over one file, and a session owned by the second. */
const twoHosts = async (tools: readonly ToolDefinition[]) => {
  const file = newFile();
  const near = await placeOn(file, "near", tools);
  const far = await placeOn(file, "far", tools);
  await far.runtime.session("s");
  return { file, near, far };
};

describe("a client that may follow redirects", () => {
  it("asks where the scope lives, and goes there directly the next time", async () => {
    const { tool, tokens } = outside();
    const { near, far } = await twoHosts([tool, echo]);
    const client = clientOf(near.host, {}, { follow: [`${far.host.url}/`] });
    const session = client.session("s");
    const replies = session.request("r", use("outside"));
    await until(() => tokens.length === 1);
    expect(await session.resolve(tokens[0] ?? "", ok(3))).toEqual({ status: "accepted" });
    expect(payloads(await replies)).toEqual([3]);
    expect([near.host.connections, far.host.connections]).toEqual([1, 1]);
    expect(payloads(await client.session("mine").request("r", use("echo", { a: 1 })))).toEqual([{ a: 1 }]);
    expect(near.runtime.inMemory).toBe(1);
  });

  it("sends its token to no untrusted host, and reports where the scope lives", async () => {
    const { near, far } = await twoHosts([echo]);
    for (const follow of [undefined, [], ["ws://127.0.0.1:1"], () => undefined]) {
      const client = clientOf(near.host, {}, follow === undefined ? {} : { follow });
      const refused = { code: "owned_by", address: far.host.url };
      await expect(client.session("s").request("r", use("echo"))).rejects.toMatchObject(refused);
      await expect(client.session("s").observe().next()).rejects.toMatchObject(refused);
    }
    expect(far.host.connections).toBe(0);
  });

  it("observes and watches there", async () => {
    const { near, far } = await twoHosts([echo]);
    const session = clientOf(near.host, {}, { follow: [far.host.url] }).session("s");
    const [events, frames] = [session.observe({ window: 2 }), session.watch({ window: 2 })];
    const [first, told] = [events.next(), frames.next()];
    for (const request of ["r1", "r2", "r3"]) await session.request(request, use("echo"));
    const cursors = [(await first).value?.cursor];
    while (cursors.length < 9) cursors.push((await events.next()).value?.cursor);
    expect(cursors).toEqual(cursors.map((_, i) => i + 1));
    expect((await told).value).toMatchObject({ type: "observed" });
    await events.return();
    await frames.return();
  });

  it("returns when the followed host is gone, and gets the earlier answers there", async () => {
    const { tool, tokens } = outside();
    const { near, far } = await twoHosts([tool]);
    const session = clientOf(near.host, {}, { follow: [far.host.url] }).session("s");
    const replies = session.request("r", use("outside"));
    const events = session.observe();
    await until(() => tokens.length === 1);
    expect((await events.next()).value).toMatchObject({ cursor: 1 });
    await far.stop();
    expect(await session.resolve(tokens[0] ?? "", ok(4))).toEqual({ status: "accepted" });
    expect(payloads(await replies)).toEqual([4]);
    let acked = false;
    for await (const { event } of events) {
      acked = event.type === "reply.acked";
      if (acked) break;
    }
    expect(acked).toBe(true);
    expect(near.runtime.inMemory).toBe(1);
  });

  it("follows a session that moved to another store, with a token for it", async () => {
    const journal = sqliteJournal(newFile());
    const far = new Runtime({ journal, platform: nodePlatform, tools: [echo], instance: "far", roots });
    const strange = new Uint8Array(32).fill(5);
    const host = await hostOf([], { runtime: far, secrets: [strange] });
    ends.push(async () => {
      await far.close();
      await journal.close();
    });
    const carrier: Client = clientOf(host, { by: "mover", rights: ["move"] });
    const moving = new Runtime({
      journal: sqliteJournal(newFile()),
      platform: nodePlatform,
      tools: [echo],
      instance: "moving",
      roots,
      mover: () => moverOver(carrier),
    });
    const source = await hostOf([], { runtime: moving });
    await clientOf(source)
      .session("s")
      .request("r", use("echo", { a: 1 }));
    await moving.move("session:s", host.url);
    const token = host.sign(everything);
    const told: string[] = [];
    const follow = (address: string): string | undefined => {
      told.push(address);
      return address === host.url ? token : undefined;
    };
    const session = clientOf(source, {}, { follow }).session("s");
    expect(payloads(await session.request("r", use("echo", { a: 1 })))).toEqual([{ a: 1 }]);
    expect(new Set(told)).toEqual(new Set([host.url]));
    const wrong = clientOf(source, {}, { follow: [host.url] }).session("s");
    await expect(wrong.open()).rejects.toMatchObject({
      code: "unauthorized",
      message: `${host.url}: the token was not signed by this host`,
    });
  });
});

/** Makes a host that owns nothing and always names the owner. */
const pointing = async (to: () => string) => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  ends.push(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  const asked: number[] = [];
  server.on("connection", (socket) =>
    socket.on("message", (data) => {
      const { type, id } = JSON.parse(String(data)) as { readonly type: string; readonly id: number };
      const bounds = { heartbeat_ms: 60_000, max_message_bytes: 1000, max_in_flight: 9, expires_at: 4_000_000_000_000 };
      if (type === "hello") socket.send(JSON.stringify({ type: "welcome", protocol: 1, by: "ann", ...bounds }));
      else {
        asked.push(id);
        socket.send(JSON.stringify({ type: "error", id, code: "owned_by", message: "not here", address: to() }));
      }
    }),
  );
  return { url: `ws://127.0.0.1:${(server.address() as { readonly port: number }).port}`, asked };
};

describe("hosts that point at each other", () => {
  it("are tried a limited number of times, then the client reports it", async () => {
    const urls: string[] = [];
    const [one, two, three] = [
      await pointing(() => urls[1] ?? ""),
      await pointing(() => urls[2] ?? ""),
      await pointing(() => urls[1] ?? ""),
    ];
    urls.push(one.url, two.url, three.url);
    const host = await hostOf([]);
    const client = clientOf(host, {}, { url: one.url, follow: urls });
    await expect(client.session("s").open()).rejects.toMatchObject({ code: "owned_by" });
    const asked = one.asked.length + two.asked.length + three.asked.length;
    expect(asked).toBe(5);
    await expect(client.session("t").observe().next()).rejects.toMatchObject({ code: "owned_by" });
    expect(one.asked.length + two.asked.length + three.asked.length).toBe(10);
  });
});
