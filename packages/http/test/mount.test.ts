/** The handler in programs of others: Hono, a server of Node's with paths of its own, a bare function; and pages elsewhere. */
import { createServer, request as plain } from "node:http";
import type { AddressInfo } from "node:net";
import { nodeListener } from "../../driver-node/src/index.ts";
import { signToken } from "../../driver-node/src/operator.ts";
import { defineTool } from "@pawl/runtime";
import { Hono } from "hono";
import { afterEach, describe, expect, it } from "vitest";
import { httpHandler } from "../src/index.ts";
import { everything, secret } from "./claims.ts";
import { ask, hostOf, read, runtimeOf } from "./rig.ts";

const echo = defineTool({ name: "echo", durable: true, execute: (args) => args });
const token = signToken([secret], everything);
const path = "/v1/sessions/s/requests/r";
const init = {
  method: "POST",
  headers: { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "wait=20" },
  body: JSON.stringify({ calls: [{ tool: "echo", args: { n: 1 } }] }),
};
const done = { status: { state: "done" }, replies: [{ output: { outcome: { payload: { n: 1 } } } }] };
const quiet = () => undefined;

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

describe("the handler", () => {
  it("is a function of a request, with no server at all", async () => {
    const handler = httpHandler({ runtime: runtimeOf([echo]), secrets: [secret], log: quiet });
    const response = await handler(new Request(`https://worker.example${path}`, init));
    expect([response.status, await response.json()]).toMatchObject([200, done]);
    expect((await handler(new Request("https://worker.example/other"))).status).toBe(404);
    for (const own of ["/v1/health", "/v1/ready"])
      expect((await handler(new Request(`https://worker.example${own}`))).status).toBe(200);
  });

  it("is mounted in Hono, below a path of the program's", async () => {
    const handler = httpHandler({ runtime: runtimeOf([echo]), secrets: [secret], base: "/api/pawl", log: quiet });
    const app = new Hono().all("/api/pawl/*", (context) => handler(context.req.raw));
    const response = await app.request(`/api/pawl${path}`, init);
    expect([response.status, response.headers.get("location"), await response.json()]).toMatchObject([
      200,
      `/api/pawl${path}`,
      done,
    ]);
  });

  it("is mounted in a server of Node's, as Express mounts what it uses", async () => {
    const handler = httpHandler({ runtime: runtimeOf([echo]), secrets: [secret], base: "/api", log: quiet });
    const listener = nodeListener(handler);
    const server = createServer((incoming, outgoing) => {
      if (incoming.url === "/own") return void outgoing.end("own");
      const { url = "" } = incoming;
      Object.assign(incoming, { originalUrl: url, url: url.replace(/^\/api/, "") });
      listener(incoming, outgoing);
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    closings.push(() => (server.closeAllConnections(), server.close()));
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await (await fetch(`${at}/own`)).text()).toBe("own");
    expect(await (await fetch(`${at}/api${path}`, init)).json()).toMatchObject(done);
    const { status } = await new Promise<{ status: number | undefined }>((resolve) => {
      plain(at, { path: "http://elsewhere/" }, (answer) => resolve({ status: answer.statusCode })).end();
    });
    expect(status).toBe(400);
  });

  it("refuses options that it could not hold", () => {
    const options = { runtime: runtimeOf([]), secrets: [secret], log: quiet } as const;
    expect(() => httpHandler({ ...options, base: "/api/" })).toThrow("base: expected a path");
    expect(() => httpHandler({ ...options, limits: { maxBodyBytes: -1 } })).toThrow("limits.maxBodyBytes");
    expect(() => httpHandler({ ...options, secrets: [new Uint8Array(3)] })).toThrow("at least 32 bytes");
  });
});

describe("a page", () => {
  const origin = "https://shop.example";

  it("of an origin that is allowed may ask from elsewhere, and reads where its answer is", async () => {
    const host = await hostOf([echo], { origins: [origin] });
    const preflight = await ask(host, path, {
      method: "OPTIONS",
      token: "",
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).toEqual([
      204,
      "GET, POST, DELETE",
    ]);
    const response = await ask(host, path, { method: "POST", headers: { origin }, body: JSON.parse(init.body) });
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    expect(response.headers.get("access-control-expose-headers")).toContain("location");
  });

  it("of any other origin is refused, whatever it asks", async () => {
    const host = await hostOf([echo], { origins: [origin] });
    for (const method of ["GET", "OPTIONS"]) {
      const headers = { origin: "https://evil.example", "access-control-request-method": "POST" };
      const response = await ask(host, path, { method, headers });
      expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([403, null]);
    }
  });

  it("and programs are told to go where their session is", async () => {
    const elsewhere = await import("@pawl/runtime");
    const host = await hostOf([echo]);
    await read(ask(host, path, { method: "POST", body: JSON.parse(init.body) }));
    const session = host.runtime.session.bind(host.runtime);
    host.runtime.session = (id) =>
      id === "s"
        ? Promise.reject(new elsewhere.OwnedElsewhere("session:s", "i2", "wss://two.example:7777"))
        : session(id);
    const response = await ask(host, `${path}?x=1`, { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([307, `https://two.example:7777${path}?x=1`]);
    expect(await response.json()).toMatchObject({ code: "owned_by", address: "wss://two.example:7777" });
  });
});
