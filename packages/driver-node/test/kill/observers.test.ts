/** Readers of long logs: what they ask for and do not read costs the host nothing, and others are served meanwhile. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { Client } from "@pawl/wire";
import { afterAll, expect, it } from "vitest";
import { Life } from "./life.ts";
import { hostToken } from "./place.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-observers-"));
const lives: Life[] = [];
afterAll(async () => {
  for (const life of lives) {
    life.kill();
    await life.ended;
  }
  rmSync(folder, { recursive: true });
});

const mebibyte = 1024 * 1024;
/** `pnpm hostile --long` asks for 300 clients and 30 MB. */
const clients = Number(process.env["PAWL_OBSERVERS"] ?? 40);
const logBytes = Number(process.env["PAWL_OBSERVED_MB"] ?? 7) * mebibyte;
const argument = "x".repeat(32 * 1024);

const started = async (instance: string) => {
  const life = new Life(["--expose-gc", "--max-old-space-size=400"]);
  lives.push(life);
  const url = await life.begin({ folder: mkdtempSync(join(folder, "host-")), instance, commits: "thread" });
  const client = new Client({ url: url as string, token: hostToken });
  const session = client.session("long");
  for (let n = 0; n * argument.length < logBytes; n += 1)
    await session.request(`r${n}`, [{ label: "c", tool: "brief", args: { call: "r:c", n, argument } }]);
  return { life, url: url as string, client };
};

const socketTo = async (url: string): Promise<WebSocket> => {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  socket.send(JSON.stringify({ type: "hello", protocol: 1, token: hostToken }));
  return socket;
};

/** Calls again and again, and returns the longest time that a call took. */
const honest = (client: Client) => {
  const over = new AbortController();
  let longest = 0;
  let calls = 0;
  const done = (async () => {
    while (!over.signal.aborted) {
      const startedAt = performance.now();
      await client
        .session("honest")
        .request(`h${(calls += 1)}`, [{ label: "c", tool: "brief", args: { call: "r:c", n: 1, argument: "" } }]);
      longest = Math.max(longest, performance.now() - startedAt);
      await pause(20);
    }
  })();
  return async () => {
    over.abort();
    await done;
    return { longest, calls };
  };
};

/** An idle machine answers within 250 ms; on a busy one the others' processes count as well. */
const mostMs = Number(process.env["PAWL_HOSTILE_MS"] ?? 1500);

for (const question of ["observe", "watch"])
  it(`1,000 questions to ${question} a long log, whose answers nobody reads, cost the host at most 128 MB`, async () => {
    const { life, url, client } = await started(`unread-${question}`);
    const before = await life.weight();
    const socket = await socketTo(url);
    socket.pause();
    const stop = honest(client);
    const from = { scope: "session:long", seq: 0, index: 0 };
    for (let id = 1; id <= 1000; id += 1)
      socket.send(
        JSON.stringify({
          type: question,
          id,
          scope: "session:long",
          window: 1_000_000,
          ...(question === "watch" ? { from } : { after: 0 }),
        }),
      );
    let most = 0;
    for (let i = 0; i < 12; i += 1) {
      await pause(250);
      const now = await life.weight();
      most = Math.max(most, now.resident - before.resident);
    }
    const { longest, calls } = await stop();
    expect(most / mebibyte).toBeLessThan(128);
    expect(longest).toBeLessThan(mostMs);
    expect(calls).toBeGreaterThan(10);
    socket.terminate();
    client.close();
  }, 120_000);

it("many who read a long log at once cost the host at most 300 MB, and all come to its end", async () => {
  const { life, url, client } = await started("read");
  const before = await life.weight();
  const end = await client.session("long").open();
  const stop = honest(client);
  const read = async (): Promise<void> => {
    const own = new Client({ url, token: hostToken });
    for await (const { cursor } of own.session("long").observe({ after: 0 })) if (cursor >= end) break;
    own.close();
  };
  let most = 0;
  const over = new AbortController();
  const weighing = (async () => {
    while (!over.signal.aborted) {
      most = Math.max(most, (await life.weight()).resident - before.resident);
      await pause(200);
    }
  })();
  await Promise.all(Array.from({ length: clients }, read));
  over.abort();
  await weighing;
  const { longest } = await stop();
  expect(most / mebibyte).toBeLessThan(300);
  expect(longest).toBeLessThan(mostMs);
  client.close();
}, 600_000);
