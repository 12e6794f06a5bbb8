/** Hostile clients: what they can do before their hello, and beyond their token. */
import { type Socket, connect } from "node:net";
import { defineTool } from "@pawl/runtime";
import type { LogEntry } from "@pawl/runtime/driver";
import { describe, expect, it } from "vitest";
import { type Host } from "../../src/index.ts";
import { Raw, clientOf, everything, greeted, hostOf } from "./rig.ts";
import { echo, use } from "./tools.ts";
import { until } from "../until.ts";

const upgradeFrom = (origin: string): string =>
  [
    "GET / HTTP/1.1",
    "Host: pawl",
    `Origin: ${origin}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "\r\n",
  ].join("\r\n");

/** Opens a raw socket that never ends by itself. */
const bare = async ({ port }: Host): Promise<Socket> => {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.once("connect", resolve));
  return socket;
};

const isAlive = async (host: Host): Promise<boolean> =>
  (await clientOf(host).session("alive").request("r", use("echo"))).length === 1;

describe("a client without a hello", () => {
  it.each([
    ["of two bytes each", "é"],
    ["of four bytes each", "👩"],
  ])(
    "is told what is wrong with its first frame within the length of a close reason, in letters %s",
    async (_, letter) => {
      const host = await hostOf([echo]);
      for (const pad of ["", "x", "xx", "xxx"]) {
        const raw = await new Raw(host.url).open();
        raw.send({ type: pad + letter.repeat(100) });
        const { code, reason } = await raw.closed;
        expect(code).toBe(4003);
        expect(reason).toContain(pad + letter);
        expect(reason).not.toContain("\ufffd");
      }
      expect(await isAlive(host)).toBe(true);
    },
  );

  it("that resets its connection during a refusal harms nobody else", async () => {
    const host = await hostOf([echo], { origins: ["https://good.example"] });
    for (let i = 0; i < 20; i++) {
      const socket = await bare(host);
      socket.write(upgradeFrom("https://evil.example"));
      socket.resetAndDestroy();
    }
    expect(await isAlive(host)).toBe(true);
  });

  it("that is refused and does not leave is cut off, and does not keep a host from closing", async () => {
    const host = await hostOf([echo]);
    const socket = await bare(host);
    const heard: string[] = [];
    socket.on("data", (data) => heard.push(String(data)));
    const ended = new Promise((resolve) => socket.once("end", resolve));
    socket.write(upgradeFrom("https://evil.example"));
    await ended;
    expect(heard.join("")).toMatch(/^HTTP\/1\.1 403 /);
    await host.close();
    socket.destroy();
  });
});

describe("a client before its hello", () => {
  it("may send little, in a frame or in a part of one", async () => {
    const log: LogEntry[] = [];
    const host = await hostOf([echo], { log: (entry) => void log.push(entry) });
    const whole = await new Raw(host.url).open();
    whole.send({ type: "x".repeat(1_000_000) });
    expect([4003, 1006]).toContain((await whole.closed).code);
    const part = await new Raw(host.url).open();
    part.socket.send("x".repeat(100_000), { fin: false });
    await part.closed;
    await until(() => host.connections === 0);
    expect(log.map(({ name }) => name)).toEqual(["client.refused", "client.refused"]);
    expect(JSON.stringify(log).length).toBeLessThan(1000);
    expect(await isAlive(host)).toBe(true);
  });

  it("may send much right after it", async () => {
    const host = await hostOf([echo]);
    const raw = await new Raw(host.url).open();
    raw.send({ type: "hello", protocol: 1, token: host.sign(everything) });
    raw.send({
      type: "call",
      id: 1,
      scope: "session:s",
      request: "r",
      calls: use("echo", { text: "x".repeat(300_000) }),
    });
    expect(await raw.until(({ id }) => id === 1)).toMatchObject({ type: "replied" });
  });

  it("is dropped if it does not even ask for an upgrade", async () => {
    const host = await hostOf([echo], { limits: { helloMs: 100 } });
    const [silent, slow] = [await bare(host), await bare(host)];
    slow.write("GET / HTTP/1.1\r\nX-Slow: ");
    const ended = [silent, slow].map((socket) => new Promise((resolve) => socket.resume().once("end", resolve)));
    await Promise.all(ended);
    for (const socket of [silent, slow]) socket.destroy();
  });
});

const remote = defineTool({
  name: "remote",
  clientSide: true,
  durable: true,
  execute: () => {
    throw new Error("a client_side tool runs elsewhere");
  },
});

describe("an executor", () => {
  const run = { executor: "e", call: "r:c", attempt: 1, run: 1 };

  it("creates no scope by what it registers or settles", async () => {
    const host = await hostOf([echo]);
    const raw = await greeted(host, { by: "eve", rights: ["execute"], scopes: ["session:team/", "process:"] });
    await raw.ask({ type: "execute", id: 1, executor: "e", tools: [] });
    const told = ["session:other", "process:other", "session:team/new"];
    for (const scope of told) raw.send({ ...run, type: "progress", scope, text: "", kind: "" });
    const output = { outcome: { status: "success", payload: 1 } };
    for (const [i, scope] of ["session:team/settled", "process:settled"].entries()) {
      const settle = { ...run, type: "settle", id: 2 + i, scope, output, duration_ms: 1 };
      expect(await raw.ask(settle)).toMatchObject({ code: "scope_unknown" });
    }
    await raw.ask({ type: "execute", id: 9, executor: "f", tools: [] });
    for (const scope of [...told, "session:team/settled", "process:settled"])
      expect(await host.runtime.has(scope), scope).toBe(false);
  });

  it("opens no scope outside its token", async () => {
    const host = await hostOf([remote]);
    const left = clientOf(host).session("s").request("r", use("remote"));
    left.catch(() => undefined); // Nobody runs it.
    const session = await host.runtime.session("s");
    await until(() => session.state.calls.at("r:c")?.phase === "no_executor");
    const { seq } = session.state;
    const eve = await greeted(host, { by: "eve", rights: ["execute"], scopes: ["session:team/"] });
    for (let id = 1; id <= 20; id++) await eve.ask({ type: "execute", id, executor: "e", tools: ["tool:remote"] });
    await session.runner.whenDurable();
    expect(session.state.seq).toBe(seq);
  });

  it("sees nothing of another token's scopes, even of its own principal", async () => {
    const host = await hostOf([remote]);
    const [wide, narrow] = [await greeted(host), await greeted(host, { scopes: ["session:team/"] })];
    const register = { type: "execute", id: 1, executor: "e", tools: ["tool:remote"] };
    await wide.ask(register);
    const replies = clientOf(host)
      .session("s")
      .request("r", use("remote", { secret: 1 }));
    replies.catch(() => undefined); // Nobody runs it.
    await wide.until(({ type }) => type === "offer");
    await narrow.ask(register);
    const session = await host.runtime.session("s");
    await until(() => session.state.calls.at("r:c")?.phase === "no_executor");
    expect(narrow.heard.map(({ type }) => type)).toEqual(["welcome", "done"]);
  });

  it("cannot register more names and tools than questions may have bytes", async () => {
    const host = await hostOf([echo], { limits: { maxInFlightBytes: 10_000 } });
    const raw = await greeted(host, { rights: [...(["execute", "move"] as const)] });
    const tools = ["x".repeat(4000)];
    expect(await raw.ask({ type: "execute", id: 1, executor: "a", tools })).toMatchObject({ type: "done" });
    expect(await raw.ask({ type: "execute", id: 2, executor: "a", tools })).toMatchObject({ type: "done" });
    expect(await raw.ask({ type: "receive", id: 3, name: "n".repeat(4000) })).toMatchObject({ type: "receiving" });
    const tooMany = { type: "error", code: "too_many_in_flight" };
    expect(await raw.ask({ type: "execute", id: 4, executor: "b", tools })).toMatchObject(tooMany);
    expect(await raw.ask({ type: "receive", id: 5, name: "m".repeat(4000) })).toMatchObject(tooMany);
    expect(await raw.ask({ type: "execute", id: 6, executor: "a", tools: [] })).toMatchObject({ type: "done" });
    expect(await raw.ask({ type: "receive", id: 7, name: "m".repeat(4000) })).toMatchObject({ type: "receiving" });
  });
});
