/** Flows of a host over HTTP and WebSocket, with the same tokens, rights and bounds as everything else. */
import { type IncomingMessage, request } from "node:http";
import * as f from "@pawl/flow";
import { type Journal, Runtime, defineTool, memoryJournal } from "@pawl/runtime";
import { describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { HostFlows, type HostOptions, nodePlatform } from "../../src/index.ts";
import { everything, hostOf, roots } from "./rig.ts";
import { until } from "../until.ts";

const greet = f.flow("Greet", [f.use("say", "hello $who"), f.back("$say_result")]);
const long = f.flow("Long", [f.each("n", "$items", [f.use("say", "$text")]), f.back("done")]);

const opened = async (
  options: Partial<HostOptions> & { readonly endsWithReader?: boolean } = {},
  journal: Journal = memoryJournal(),
) => {
  const { endsWithReader = false, ...more } = options;
  const flows = new HostFlows({
    flows: {
      greet: { program: greet, parameters: ["who"], path: "{who}" },
      long: { program: long, parameters: ["items", "text"] },
    },
    endsWithReader,
  });
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
  const say = defineTool({
    name: "say",
    execute: async (text) => {
      if (text === "hello slow") await released;
      return text;
    },
  });
  const runtime = new Runtime({
    journal,
    platform: nodePlatform,
    tools: [say],
    instance: "i1",
    roots,
    host: { flow: { observe: flows.observe } },
  });
  const host = await hostOf([], { runtime, flows, ...more });
  const at = `http://127.0.0.1:${host.port}`;
  const ask = (path: string, init: RequestInit = {}, claims = {}): Promise<Response> => {
    const authorization = `Bearer ${host.sign({ ...everything, ...claims })}`;
    return fetch(at + path, { ...init, headers: { authorization, ...init.headers } });
  };
  return { host, runtime, ask, at, release: () => release(undefined) };
};

const eventsIn = (text: string): readonly string[] =>
  [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name ?? "");

const from = (origin: string): RequestInit => ({ method: "POST", headers: { origin } });

describe("flows of a host", () => {
  it("are run by POST and GET, and stream their events raw or named", async () => {
    const { ask } = await opened();
    const response = await ask("/flows/greet/ann", { method: "POST" });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(eventsIn(await response.text())).toEqual(["flow_start", "step_start", "step_complete", "flow_complete"]);
    expect(eventsIn(await (await ask("/flows/greet/bob?wire=named")).text())).toEqual(["axon.complete"]);
    expect((await ask("/flows/other")).status).toBe(404);
    expect((await ask("/elsewhere")).status).toBe(426);
  });

  it("are open to pages of allowed origins, with a preflight, and to no others", async () => {
    const { ask, at } = await opened({ origins: ["https://good.example"] });
    const preflight = (origin: string): Promise<Response> =>
      fetch(`${at}/flows/greet/ann`, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization" },
      });
    const good = await preflight("https://good.example");
    expect(good.status).toBe(204);
    expect(good.headers.get("access-control-allow-origin")).toBe("https://good.example");
    expect(good.headers.get("access-control-allow-methods")).toBe("GET, POST");
    expect(good.headers.get("access-control-allow-headers")).toContain("authorization");
    expect(good.headers.get("vary")).toBe("Origin");
    const bad = await preflight("https://bad.example");
    expect([bad.status, bad.headers.get("access-control-allow-origin")]).toEqual([403, null]);
    const answered = await ask("/flows/greet/ann", from("https://good.example"));
    expect([answered.status, answered.headers.get("access-control-allow-origin")]).toEqual([
      200,
      "https://good.example",
    ]);
    expect(answered.headers.get("access-control-expose-headers")).toBe("x-request-id");
    expect((await ask("/flows/none", from("https://good.example"))).headers.get("vary")).toBe("Origin");
    const refused = await ask("/flows/greet/ann", from("https://bad.example"));
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([403, null]);
    expect((await fetch(`${at}/flows/greet/ann`, { method: "OPTIONS" })).status).toBe(401);
  });

  it("accept a page's token as the second protocol of its WebSocket, and no forged one", async () => {
    const { host } = await opened();
    const read = async (token: string): Promise<readonly [string, readonly string[], number]> => {
      const socket = new globalThis.WebSocket(`${host.url}/flows/greet/ann`, ["pawl-flow", token]);
      const heard: string[] = [];
      socket.addEventListener("message", ({ data }) => heard.push(String(data)));
      const code = await new Promise<number>((resolve) => {
        socket.addEventListener("close", ({ code: closed }) => resolve(closed));
      });
      return [socket.protocol, heard, code];
    };
    const [protocol, heard, code] = await read(host.sign(everything));
    expect([protocol, code]).toEqual(["pawl-flow", 1000]);
    expect(heard.map((text) => (JSON.parse(text) as { readonly event: string }).event)).toContain("flow_complete");
    expect((await read("pawl1.forged.token"))[2]).toBe(4401);
    expect((await read(host.sign({ ...everything, rights: ["observe"] })))[2]).toBe(4403);
  });

  it("require a token with the right to call in their session, and an allowed origin", async () => {
    const { ask, at } = await opened({ origins: ["https://good.example"] });
    const unnamed = await fetch(`${at}/flows/greet/ann`);
    expect([unnamed.status, await unnamed.text()]).toEqual([401, expect.stringContaining("Authorization: Bearer")]);
    expect((await ask("/flows/greet/ann", { headers: { authorization: "Bearer forged" } })).status).toBe(401);
    expect((await ask("/flows/greet/ann", {}, { expires_at: Date.now() - 1 })).status).toBe(401);
    expect((await ask("/flows/greet/ann", {}, { rights: ["observe"] })).status).toBe(403);
    expect((await ask("/flows/greet/ann", {}, { scopes: ["session:team-1/"] })).status).toBe(403);
    const team = { headers: { "x-session": "team-1/a" } };
    expect((await ask("/flows/greet/ann", team, { scopes: ["session:team-1/"] })).status).toBe(200);
    expect((await ask("/flows/greet/ann", { headers: { origin: "https://bad.example" } })).status).toBe(403);
    expect((await ask("/flows/greet/ann", { headers: { origin: "https://good.example" } })).status).toBe(200);
  });

  it("keep the host's bounds on bodies and on concurrent streams", async () => {
    const { ask, release } = await opened({ limits: { maxMessageBytes: 100, maxConnections: 1 } });
    const body = JSON.stringify({ text: "x".repeat(200) });
    expect((await ask("/flows/long", { method: "POST", body })).status).toBe(413);
    const slow = await ask("/flows/greet/slow");
    expect((await ask("/flows/greet/ann")).status).toBe(503);
    release();
    expect(eventsIn(await slow.text())).toContain("flow_complete");
    expect((await ask("/flows/greet/ann")).status).toBe(200);
  });

  it("count a reader from its admission, even while it sends its body", async () => {
    const { host, ask } = await opened({ limits: { maxConnections: 1 } });
    const headers = { authorization: `Bearer ${host.sign(everything)}`, "content-length": "100" };
    const slow = request({ host: "127.0.0.1", port: host.port, path: "/flows/long", method: "POST", headers });
    slow.on("error", () => undefined);
    slow.write("{");
    await until(async () => (await ask("/flows/other")).status === 503);
    slow.destroy();
    await until(async () => (await ask("/flows/other")).status === 404);
  });

  it("end with a reader that leaves before its session is open, if they end with readers", async () => {
    const journal = memoryJournal();
    const opening = Promise.withResolvers<void>();
    const claim: typeof journal.claim = async (...of) => {
      await opening.promise;
      return journal.claim(...of);
    };
    const { ask, runtime, release } = await opened({ endsWithReader: true }, { ...journal, claim });
    const left = new AbortController();
    const asked = ask("/flows/greet/slow", { method: "POST", signal: left.signal }).catch(() => undefined);
    await vi.waitFor(() => expect(runtime.inMemory).toBe(1));
    left.abort();
    await asked;
    await new Promise((resolve) => setTimeout(resolve, 20)); // The host notices it.
    opening.resolve();
    await vi.waitFor(async () => {
      const lines = await journal.read("session:flows", 1);
      expect(lines.some(({ line }) => line.includes("flow.consumer_gone"))).toBe(true);
    });
    release();
  });

  it("show a flow's events only to readers of its session", async () => {
    const { ask, release } = await opened();
    const headers = { "idempotency-key": "same" };
    const one = ask("/flows/greet/slow", { headers: { ...headers, "x-session": "one" } });
    const two = ask("/flows/greet/ann", { headers: { ...headers, "x-session": "two" } });
    const text = await (await two).text();
    expect(eventsIn(text)).toEqual(["flow_start", "step_start", "step_complete", "flow_complete"]);
    expect(text).not.toContain("slow");
    release();
    expect(await (await one).text()).not.toContain("ann");
  });

  it.each([true, false])("end with a client that leaves, if configured: %s", async (endsWithReader) => {
    const { ask, runtime, release } = await opened({ endsWithReader });
    const leaving = new AbortController();
    const response = await ask("/flows/greet/slow", { headers: { "idempotency-key": "r" }, signal: leaving.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    leaving.abort();
    await reader?.cancel().catch(() => undefined);
    const session = await runtime.session("flows");
    const row = () => session.state.flows.get("r");
    const isTold = (): boolean => row() === undefined || row()?.gone === true;
    const turns = endsWithReader ? 500 : 20;
    for (let i = 0; i < turns && !isTold(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(isTold()).toBe(endsWithReader);
    release();
  });

  it("drop a reader that takes nothing, and buffer no more than the bound", async () => {
    const limits = { maxBufferedBytes: 64 * 1024, stallMs: 200, maxConnections: 1 };
    const { host, ask } = await opened({ limits });
    const headers = { authorization: `Bearer ${host.sign(everything)}` };
    const asking = request({ host: "127.0.0.1", port: host.port, path: "/flows/long", method: "POST", headers });
    asking.on("error", () => undefined);
    const answered = new Promise<IncomingMessage>((resolve) => asking.on("response", resolve));
    const items = Array.from({ length: 250 }, (_, i) => `${i}`).join(",");
    asking.end(JSON.stringify({ items, text: "x".repeat(60_000) }));
    const response = await answered;
    const ended = new Promise<boolean>((resolve) => response.on("close", () => resolve(response.complete)));
    response.on("error", () => undefined);
    await until(async () => (await ask("/flows/greet/ann")).status === 200, 50);
    response.resume();
    expect(await ended).toBe(false);
  });

  it("keep a reader whose WebSocket answers pings", async () => {
    const { host, release } = await opened({ limits: { heartbeatMs: 1000 } });
    const headers = { authorization: `Bearer ${host.sign(everything)}` };
    const alive = new WebSocket(`${host.url}/flows/greet/slow`, { headers });
    const ended = new Promise<number>((resolve) => alive.on("close", resolve));
    let pings = 0;
    alive.on("ping", () => (pings += 1));
    await vi.waitUntil(() => pings === 2, { timeout: 20_000 });
    release();
    expect(await ended).toBe(1000);
  });

  it("drop a reader whose WebSocket answers no ping", async () => {
    const { host, ask } = await opened({ limits: { heartbeatMs: 500, maxConnections: 1 } });
    const headers = { authorization: `Bearer ${host.sign(everything)}` };
    const dead = new WebSocket(`${host.url}/flows/greet/slow`, { headers });
    dead.on("error", () => undefined);
    dead.on("open", () => dead.pause());
    await vi.waitUntil(async () => (await ask("/flows/other")).status === 503);
    await vi.waitUntil(async () => (await ask("/flows/other")).status === 404, { timeout: 20_000 });
  });

  it("can be read over a WebSocket, raw or named, one message for each event", async () => {
    const { host } = await opened();
    const heard = (path: string, token: string) =>
      new Promise<{
        readonly messages: readonly { readonly event?: string; readonly error?: string }[];
        readonly code: number;
      }>((resolve) => {
        const messages: { readonly event?: string }[] = [];
        const socket = new WebSocket(host.url + path, { headers: { authorization: `Bearer ${token}` } });
        socket.on("message", (data) => messages.push(JSON.parse(String(data)) as { readonly event?: string }));
        socket.on("error", () => undefined);
        socket.on("close", (code) => resolve({ messages, code }));
      });
    const raw = await heard("/flows/greet/ann", host.sign(everything));
    expect(raw.code).toBe(1000);
    expect(raw.messages.map(({ event }) => event)).toEqual([
      "flow_start",
      "step_start",
      "step_complete",
      "flow_complete",
    ]);
    const named = await heard("/flows/greet/ann?wire=named", host.sign(everything));
    expect(named.messages).toMatchObject([{ event: "axon.complete", id: "1", data: { flow: "Greet", success: true } }]);
    const refused = await heard("/flows/greet/ann", "forged");
    expect([refused.code, refused.messages[0]?.error]).toEqual([4401, expect.stringContaining("token")]);
  });
});
