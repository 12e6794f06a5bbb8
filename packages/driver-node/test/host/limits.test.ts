/** Limits that a program sets. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Client } from "@pawl/wire";
import { describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { type HostLimits, openHost } from "../../src/index.ts";
import { until } from "../until.ts";
import { clientOf, greeted, hostOf, runtimeOf, secret } from "./rig.ts";
import { echo, use } from "./tools.ts";

const longestTimerMs = 2 ** 31 - 1;
const passes = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("limits of a host", () => {
  it.each([2 ** 31, 10 * 365 * 24 * 3_600_000, Infinity])("may exceed the longest timer: %s", async (ms) => {
    const limits = { heartbeatMs: ms, helloMs: ms, stallMs: ms };
    const host = await hostOf([echo], { limits });
    const raw = await greeted(host);
    expect(raw.heard[0]).toMatchObject({ type: "welcome", heartbeat_ms: longestTimerMs });
    const session = clientOf(host).session("s");
    await host.runtime.session("s");
    await session.open();
    await passes(50);
    expect(host.connections).toBe(2);
    expect(await session.request("r", use("echo"))).toHaveLength(1);
    await passes(50);
    expect(raw.socket.readyState).toBe(raw.socket.OPEN);
  });

  it("may be infinite", async () => {
    const none = {
      maxInFlight: Infinity,
      maxInFlightBytes: Infinity,
      maxMessageBytes: Infinity,
      maxConnections: Infinity,
    };
    const host = await hostOf([echo], { limits: { ...none, maxBufferedBytes: Infinity, pauseBytes: Infinity } });
    expect(await clientOf(host).session("s").request("r", use("echo"))).toHaveLength(1);
  });

  it.each([
    [{ heartbeatMs: 0 }, "heartbeatMs"],
    [{ helloMs: -1 }, "helloMs"],
    [{ stallMs: Number.NaN }, "stallMs"],
    [{ maxInFlight: 1.5 }, "maxInFlight"],
    [{ maxMessageBytes: "4MB" as never }, "maxMessageBytes"],
  ] as readonly (readonly [Partial<HostLimits>, string])[])("that are none are refused: %j", async (limits, name) => {
    const opened = openHost({ runtime: runtimeOf([]), secrets: [secret], limits });
    await expect(opened).rejects.toThrow(`limits.${name}`);
  });

  it("have defaults", async () => {
    const host = await hostOf([echo], { limits: { heartbeatMs: undefined as never } });
    const raw = await greeted(host);
    expect(raw.heard[0]).toMatchObject({ type: "welcome", heartbeat_ms: 15_000 });
  });
});

it("delay a client's ping to a silent host for the given time, however long", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const heard: string[] = [];
  const limits = { max_message_bytes: 1e6, max_in_flight: 10, expires_at: 4e12 };
  const welcome = { type: "welcome", protocol: 1, by: "ann", heartbeat_ms: 2 ** 40, ...limits };
  server.on("connection", (socket) => {
    socket.on("message", (data) => {
      heard.push(String(data));
      if (heard.length === 1) socket.send(JSON.stringify(welcome));
    });
  });
  const { port } = server.address() as AddressInfo;
  const client = new Client({ url: `ws://127.0.0.1:${port}`, token: "t", backoff: { minMs: 5, maxMs: 50 } });
  await until(() => client.isConnected);
  await passes(50);
  expect([client.isConnected, heard.length]).toEqual([true, 1]);
  client.close();
  server.close();
});
