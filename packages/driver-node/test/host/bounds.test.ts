/** Bounds on what one client may use of a host at once. */
import { createServer } from "node:https";
import { describe, expect, it } from "vitest";
import { Raw, everything, greeted, hostOf } from "./rig.ts";
import { echo, outside, use } from "./tools.ts";
import { until } from "../until.ts";

const scope = "session:s";

describe("the bounds of a connection", () => {
  it("limit the bytes of questions, except of a single one", async () => {
    const { tool, tokens } = outside();
    const host = await hostOf([tool, echo], { limits: { maxInFlightBytes: 2000 } });
    const raw = await greeted(host);
    const large = { type: "call", scope, calls: use("outside", { text: "x".repeat(3000) }) };
    raw.send({ ...large, id: 1, request: "r1" });
    expect(await raw.ask({ ...large, id: 2, request: "r2" })).toMatchObject({
      code: "too_many_in_flight",
      retry_after_ms: expect.any(Number),
    });
    await until(() => tokens.length === 1);
    const session = await host.runtime.session("s");
    await session.resolve(tokens[0] ?? "", { status: "ok", payload: 1 });
    await raw.until(({ type, id }) => type === "replied" && id === 1);
    raw.send({ ...large, id: 3, request: "r2" });
    await until(() => tokens.length === 2);
  });

  it("count invalid frames in a row", async () => {
    const raw = await greeted(await hostOf([], { limits: { maxBadFrames: 2 } }));
    for (let n = 1; n <= 4; n++) {
      raw.send("no frame");
      raw.send({ type: "ping", n });
      await raw.until((said) => said.type === "pong" && said["n"] === n);
    }
    for (let i = 0; i < 2; i++) raw.send("no frame");
    expect((await raw.closed).reason).toBe("too_many_bad_frames");
  });

  it("stop following a scope when the connection ends", async () => {
    const host = await hostOf([echo]);
    const { runner } = await host.runtime.session("s");
    await runner.whenDurable();
    const raw = await greeted(host);
    raw.send({ type: "observe", id: 1, scope, after: runner.state.seq, window: 1 });
    await until(() => runner.isAwaited);
    raw.socket.terminate();
    await until(() => !runner.isAwaited);
  });

  it("do not count answered questions", async () => {
    const host = await hostOf([echo], { limits: { maxInFlight: 2 } });
    const raw = await greeted(host);
    for (let id = 1; id <= 6; id++) {
      const question = { type: "call", id, scope, request: `r${id}`, calls: use("echo", { n: id }) };
      expect(await raw.ask(question)).toMatchObject({ type: "replied", id });
    }
  });

  it("drop a client with too many unsent bytes", async () => {
    const limits = { pauseBytes: 1000, maxBufferedBytes: 1_000_000, stallMs: 60_000 };
    const host = await hostOf([echo], { limits });
    const slow = await greeted(host);
    slow.socket.pause();
    const text = "x".repeat(500_000);
    for (let id = 1; id <= 40 && host.connections > 0; id++) {
      slow.send({ type: "call", id, scope, request: `r${id}`, calls: use("echo", { text }) });
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => host.connections === 0);
  }, 20_000);

  it("drop a client that pings and does not read the answers", async () => {
    const host = await hostOf([]);
    const slow = await greeted(host);
    const answered = new Promise((resolve) => slow.socket.once("pong", resolve));
    slow.socket.ping("first");
    expect(String(await answered)).toBe("first");
    slow.socket.pause();
    const data = Buffer.alloc(125);
    for (let i = 0; i < 300 && host.connections > 0; i++) {
      for (let n = 0; n < 1000; n++) slow.socket.ping(data);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => host.connections === 0);
  }, 20_000);

  it("refuse a connection too many with 503, and admit the next when one has gone", async () => {
    const host = await hostOf([], { limits: { maxConnections: 2 } });
    const [first] = [await greeted(host), await greeted(host)];
    await expect(new Raw(host.url).open()).rejects.toThrow("503");
    first?.socket.close();
    await until(() => host.connections === 1);
    await greeted(host);
  });
});

describe("a host with TLS", () => {
  it("uses the given server, and a wss address", async () => {
    const psk = Buffer.alloc(32, 5); // A shared key needs no certificate file.
    const server = createServer({ ciphers: "PSK", pskCallback: () => psk });
    const host = await hostOf([echo], { server });
    expect(host.url).toMatch(/^wss:\/\/127\.0\.0\.1:\d+$/);
    const pskCallback = () => ({ psk, identity: "ann" });
    const tls = { ciphers: "PSK", pskCallback, checkServerIdentity: () => false }; // False: nothing is wrong with it.
    const raw = new Raw(host.url, tls);
    await raw.open();
    raw.send({ type: "hello", protocol: 1, token: host.sign(everything) });
    expect(await raw.until(({ type }) => type === "welcome")).toMatchObject({ by: "ann" });
    await host.close();
    expect(server.listening).toBe(true);
    await new Promise((resolve) => server.close(resolve));
  });
});
