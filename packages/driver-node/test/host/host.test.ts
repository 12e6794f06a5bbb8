import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { stableHash } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { claimsOf, openHost, signToken } from "../../src/index.ts";
import { Raw, clientOf, everything, greeted, hostOf, runtimeOf, secret } from "./rig.ts";
import { asked, counted, echo, outside, payloads, use } from "./tools.ts";
import { until } from "../until.ts";

const ok = (payload: unknown) => ({ status: "ok", payload: payload as never }) as const;
const scope = "session:s";

describe("a token", () => {
  it("is valid under its secret, also an older one, until it expires", () => {
    const other = new Uint8Array(32).fill(1);
    const token = signToken([secret], everything);
    expect(claimsOf([secret], token, 0)).toMatchObject({ right: everything });
    expect(claimsOf([other, secret], token, 0)).toMatchObject({ _tag: "Right" });
    expect(claimsOf([other], token, 0)).toMatchObject({ left: expect.stringContaining("not signed") });
    expect(claimsOf([secret], token, everything.expires_at)).toMatchObject({
      left: expect.stringContaining("expired"),
    });
  });

  it("is refused if one character was changed", () => {
    const token = signToken([secret], everything);
    for (let i = 0; i < token.length - 1; i++) {
      const changed = `${token.slice(0, i)}${token[i] === "A" ? "B" : "A"}${token.slice(i + 1)}`;
      expect(claimsOf([secret], changed, 0), `at ${i}`).toMatchObject({ _tag: "Left" });
    }
    for (const garbage of ["", ".", "..", "pawl1..", "pawl1.e30.", `pawl1.${"x".repeat(20_000)}.y`])
      expect(claimsOf([secret], garbage, 0)).toMatchObject({ _tag: "Left" });
  });

  it("is refused if its signature is written in another way", () => {
    const token = signToken([secret], everything);
    const sixBits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const last = sixBits.indexOf(token.at(-1) ?? "");
    const sameBytes = token.slice(0, -1) + sixBits[last ^ 1];
    const [version, claims, signature = ""] = token.split(".");
    const standard = `${version}.${claims}.${signature.replaceAll("-", "+").replaceAll("_", "/")}`;
    for (const other of [sameBytes, `${token}=`, `${token} `, `${token}\n`, ...(standard === token ? [] : [standard])])
      expect(claimsOf([secret], other, 0), other).toMatchObject({ left: expect.stringContaining("not signed") });
  });

  it("needs a secret of 32 bytes", async () => {
    await expect(openHost({ runtime: runtimeOf([]), secrets: [new Uint8Array(31)] })).rejects.toThrow("31 bytes");
  });
});

describe("a host with an invalid address", () => {
  it("does not start, nor listen on a given server", async () => {
    const runtime = runtimeOf([]);
    const server = createServer();
    await once(server.listen(0, "127.0.0.1"), "listening");
    const port = (server.address() as AddressInfo).port;
    runtime.announce = async () => Promise.reject(new Error("the disk is away"));
    await expect(openHost({ runtime, secrets: [secret], server })).rejects.toThrow("the disk is away");
    expect([server.listening, server.eventNames()]).toEqual([true, createServer().eventNames()]);
    await new Promise((resolve) => server.close(resolve));
    await expect(openHost({ runtime, secrets: [secret], port })).rejects.toThrow("the disk is away");
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow("fetch failed");
    await runtime.close();
  });
});

describe("a host", () => {
  it("runs calls, keeps their replies until they are acknowledged, and answers them again", async () => {
    const { tool, ran } = counted();
    const host = await hostOf([tool]);
    const session = clientOf(host).session("s");
    expect(payloads(await session.request("r", use("counted"), { keep: true }))).toEqual([1]);
    const runtimes = await host.runtime.session("s");
    expect(runtimes.state.requests.at("r")?.phase).toBe("replying");
    expect(payloads(await session.replies("r", { keep: true }))).toEqual([1]);
    await session.acknowledge("r");
    expect(runtimes.state.requests.at("r")).toBeUndefined();
    expect(payloads(await session.request("r", use("counted")))).toEqual([1]);
    await expect(session.request("r", use("counted", { other: 1 }))).rejects.toMatchObject({
      code: "request_conflict",
    });
    expect(ran).toHaveLength(1);
  });

  it("resolves, approves, rejects and cancels under the client's name", async () => {
    const { tool, tokens } = outside();
    const host = await hostOf([tool, asked]);
    const session = clientOf(host, { by: "bob" }).session("s");
    const first = session.request("r1", use("outside"));
    await until(() => tokens.length === 1);
    expect(await session.resolve(tokens[0] ?? "", ok({ n: 9_007_199_254_740_993n }))).toEqual({ status: "accepted" });
    expect(await session.resolve(tokens[0] ?? "", ok(2))).toMatchObject({ status: "already_resolved" });
    expect(payloads(await first)).toEqual([{ n: 9_007_199_254_740_993n }]);

    const second = session.request("r2", use("outside"));
    await until(() => tokens.length === 2);
    const key = tokens[1]?.split(".")[2] ?? "";
    await expect.poll(() => session.resolveById(key, ok(3))).toEqual({ status: "accepted" });
    expect(payloads(await second)).toEqual([3]);

    const hash = stableHash({ amount: 1 });
    const parked = ["r3", "r4", "r5"].map((request) => session.request(request, use("asked", { amount: 1 })));
    const runtimes = await host.runtime.session("s");
    await until(() => ["r3:c", "r4:c"].every((ref) => runtimes.state.calls.at(ref)?.phase === "awaiting_approval"));
    await expect(session.approve("r3:c", { hash: "x" })).rejects.toMatchObject({ code: "stale_decision" });
    await session.approve("r3:c", { hash, args: { amount: 4 } });
    await session.reject("r4:c", { hash, reason: "no" });
    await session.cancel({ request: "r5" });
    const outcomes = (await Promise.all(parked)).map(([reply]) => reply?.output.outcome);
    expect(outcomes).toMatchObject([{ payload: 8 }, { status: "failure" }, { status: "cancelled" }]);
    const by: unknown[] = [];
    for await (const { event } of session.observe()) {
      if ("by" in event) by.push(event.by);
      if (event.type === "reply.acked" && event.request === "r5") break;
    }
    expect(new Set(by)).toEqual(new Set(["bob"]));
    expect(by.length).toBeGreaterThan(8);
  });

  it("refuses every right that a token lacks, and every scope outside it", async () => {
    const host = await hostOf([echo]);
    const without: readonly (readonly [string, object])[] = [
      ["call", { type: "call", request: "r", calls: use("echo") }],
      ["call", { type: "replies", request: "r" }],
      ["call", { type: "acknowledge", request: "r" }],
      ["call", { type: "cancel_request", request: "r" }],
      ["call", { type: "cancel_call", call: "r:c" }],
      ["resolve", { type: "resolve", token: "t", resolution: ok(1) }],
      ["resolve", { type: "resolve_by_id", key: "k", resolution: ok(1) }],
      ["approve", { type: "approve", call: "r:c", hash: "h" }],
      ["approve", { type: "reject", call: "r:c", hash: "h", reason: "" }],
      ["observe", { type: "approvals" }],
      ["observe", { type: "awaiting_approval" }],
      ["observe", { type: "observe", after: 0, window: 1 }],
      ["observe", { type: "open" }],
      ["observe", { type: "watch", window: 1 }],
      ["move", { type: "move", to: "ws://elsewhere" }],
    ];
    for (const [right, frame] of without) {
      const rights = [...everything.rights, "move" as const].filter((other) => other !== right);
      const raw = await greeted(host, { rights });
      const refused = await raw.ask({ ...frame, id: 1, scope });
      expect(refused, right).toMatchObject({ type: "error", code: "permission_denied" });
      const elsewhere = await greeted(host, {
        rights: [...everything.rights, "move"],
        scopes: ["session:other", "process:"],
      });
      expect(await elsewhere.ask({ ...frame, id: 1, scope })).toMatchObject({ code: "permission_denied" });
    }
    const raw = await greeted(host);
    expect(await raw.ask({ type: "open", id: 2, scope: "nonsense" })).toMatchObject({ code: "scope_unknown" });
  });

  it("admits nobody without a valid hello, from another origin, or with an expired token", async () => {
    const host = await hostOf([], { limits: { helloMs: 50 }, origins: ["https://good.example"] });
    const closing = async (frame: unknown): Promise<number> => {
      const raw = await new Raw(host.url).open();
      raw.send(frame);
      return (await raw.closed).code;
    };
    const token = host.sign(everything);
    expect(await closing({ type: "hello", protocol: 2, token })).toBe(4000);
    expect(await closing({ type: "hello", protocol: 1, token: "bad" })).toBe(4001);
    expect(await closing({ type: "ping", n: 1 })).toBe(4003);
    expect(await closing("{")).toBe(4003);
    const silent = await new Raw(host.url).open();
    expect((await silent.closed).code).toBe(4003);
    await expect(new Raw(host.url, { origin: "https://evil.example" }).open()).rejects.toThrow("403");
    await new Raw(host.url, { origin: "https://good.example" }).open();
    const short = await greeted(host, { expires_at: Date.now() + 60 });
    expect((await short.closed).code).toBe(4002);
  });

  it("listens on loopback by default", async () => {
    expect((await hostOf([])).url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
  });

  it("closes on an oversized frame, and refuses more questions than its limit", async () => {
    const { tool } = outside();
    const host = await hostOf([tool], { limits: { maxMessageBytes: 1000, maxInFlight: 2 } });
    const large = await greeted(host);
    large.send(JSON.stringify({ type: "open", id: 1, scope: "x".repeat(2000) }));
    expect((await large.closed).code).toBe(1009);
    const raw = await greeted(host);
    for (const id of [1, 2]) raw.send({ type: "call", id, scope, request: `r${id}`, calls: use("outside") });
    expect(await raw.ask({ type: "open", id: 3, scope })).toMatchObject({
      code: "too_many_in_flight",
      retry_after_ms: expect.any(Number),
    });
    raw.send({ type: "open", id: 1, scope });
    expect(await raw.until(({ code }) => code === "id_in_use")).toMatchObject({ id: 1 });
  });

  it("gives two clients that submit one request the same replies, from one run", async () => {
    const { tool, ran } = counted();
    const host = await hostOf([tool]);
    const [one, two] = [clientOf(host).session("s"), clientOf(host).session("s")];
    const both = await Promise.all([one.request("r", use("counted")), two.request("r", use("counted"))]);
    expect(both.map(payloads)).toEqual([[1], [1]]);
    expect(ran).toHaveLength(1);
  });

  it("drops a client that does not answer pings", async () => {
    const host = await hostOf([], { limits: { heartbeatMs: 20 } });
    const dead = await greeted(host);
    dead.socket.pause();
    await until(() => host.connections === 0);
    const alive = await greeted(host);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(alive.socket.readyState).toBe(alive.socket.OPEN);
  });

  it("drops a client that reads too slowly, which continues from its cursor", async () => {
    const runtime = runtimeOf([echo], undefined, undefined, undefined, Infinity); // Its log must become large.
    const limits = { pauseBytes: 50_000, stallMs: 100, heartbeatMs: 10_000 };
    const host = await hostOf([], { runtime, limits });
    const session = await host.runtime.session("s");
    // Longer texts would be offloaded, and their events be short.
    for (let i = 0; i < 200; i++) await session.request(`r${i}`, use("echo", { text: "x".repeat(60_000) }));
    const slow = await greeted(host);
    slow.socket.pause();
    slow.send({ type: "observe", id: 1, scope, after: 0, window: 100_000 });
    await until(() => host.connections === 0);
    slow.socket.resume();
    const { code } = await slow.closed;
    expect([4008, 1006]).toContain(code);
    const cursors = slow.heard.flatMap((said) => (said.type === "observed" ? [Number(said["cursor"])] : []));
    expect(cursors.length).toBeGreaterThan(0);
    expect(cursors).toEqual(cursors.map((_, i) => i + 1));
    const seen: number[] = [];
    for await (const { cursor } of clientOf(host).session("s").observe({ after: cursors.length })) {
      seen.push(cursor);
      if (cursor === session.runner.durable.seq) break;
    }
    expect(seen).toEqual(
      Array.from({ length: session.runner.durable.seq - cursors.length }, (_, i) => i + 1 + cursors.length),
    );
  }, 120_000);

  it("survives thousands of mutated frames, then answers a valid one", async () => {
    const host = await hostOf([echo], { limits: { maxBadFrames: 1_000_000, maxInFlight: 100_000 } });
    const raw = await greeted(host);
    const good = [
      { type: "call", id: 1, scope, request: "r", calls: use("echo") },
      { type: "resolve", id: 2, scope, token: "t", resolution: ok(1) },
      { type: "observe", id: 3, scope, after: 0, window: 1 },
      { type: "approve", id: 4, scope, call: "r:c", hash: "h", args: { a: 1 } },
      { type: "seen", id: 3, cursor: 1 },
      { type: "hello", protocol: 1, token: "t" },
    ].map((frame) => JSON.stringify(frame));
    let random = 20_261_118;
    const dice = (n: number): number => (random = (random * 1_103_515_245 + 12_345) % 2 ** 31) % n;
    const pieces = [
      '"',
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      "null",
      "-1",
      "1e999",
      "\\ud800",
      "\u0000",
      "__proto__",
      "é",
      "99999999999999999999",
    ];
    for (let i = 0; i < 4000; i++) {
      let text = good[dice(good.length)] ?? "";
      for (let n = dice(4); n >= 0; n--) {
        const at = dice(text.length + 1);
        text = `${text.slice(0, at)}${pieces[dice(pieces.length)] ?? ""}${text.slice(at + dice(3))}`;
      }
      if (i % 100 === 0) raw.socket.send(Buffer.from(text), { binary: true });
      else raw.send(text);
    }
    raw.send({ type: "ping", n: 77 });
    await raw.until(({ type, n }) => type === "pong" && n === 77);
    expect(raw.heard.filter(({ code }) => code === "invalid_frame").length).toBeGreaterThan(1000);
    expect(raw.heard.filter(({ code }) => code === "internal_error")).toEqual([]);
  }, 20_000);

  it("closes a connection that sends only garbage", async () => {
    const raw = await greeted(await hostOf([], { limits: { maxBadFrames: 3 } }));
    for (let i = 0; i < 3; i++) raw.send("garbage");
    expect(await raw.until(({ code }) => code === "invalid_frame")).toMatchObject({ type: "error" });
    expect((await raw.closed).code).toBe(4007);
  });
});
