/** Tests who may come in, how much they may ask at a time, and which process answers them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTool } from "@pawl/runtime";
import { afterAll, afterEach, expect, it } from "vitest";
import { listen } from "../src/node/index.ts";
import { type Asked, type Opened, ask, openServer, requestOf } from "./open.ts";

const home = mkdtempSync(join(tmpdir(), "pawl-mcp-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
const opened = (...of: Parameters<typeof openServer>): Opened => {
  const one = openServer(...of);
  ends.push(one.end);
  return one;
};

const hello = defineTool({ name: "hello", execute: () => "hello" });
const waits = defineTool({ name: "waits", durable: true, execute: (_: unknown, context) => context.sleep(60_000) });

/** Sends requests to a server that listens. */
const at = (url: string) => (request: Request) =>
  fetch(url, { method: "POST", headers: request.headers, body: request.body, duplex: "half" } as RequestInit);

it("without tokens only loopback is let in, by whatever page or name the request comes", async () => {
  const { call } = opened([hello]);
  const status = async (headers: Asked["headers"] = {}): Promise<number> =>
    (await call("hello", {}, { headers })).status;
  expect(await status()).toBe(200);
  expect(await status({ origin: "http://localhost:3000" })).toBe(200);
  expect(await status({ origin: "https://evil.example" })).toBe(403);
  expect(await status({ host: "evil.example" })).toBe(403);
});

it("a server that verifies tokens tells others where to get one", async () => {
  const url = "https://tools.example/mcp";
  const resource = { url, authorizationServers: ["https://login.example"], scopes: ["tools"] };
  const { call, fetch } = opened([hello], {
    resource,
    verify: (token) => (token === "good" ? { by: "ann" } : undefined),
  });
  const without = await call("hello");
  const metadata = "https://tools.example/.well-known/oauth-protected-resource/mcp";
  expect(without.status).toBe(401);
  expect(without.headers.get("www-authenticate")).toBe(`Bearer resource_metadata="${metadata}", scope="tools"`);
  const bad = await call("hello", {}, { headers: { authorization: "Bearer bad" } });
  expect([bad.status, bad.headers.get("www-authenticate")]).toEqual([
    401,
    expect.stringContaining('error="invalid_token"'),
  ]);
  expect(await (await fetch(new Request(metadata))).json()).toEqual({
    resource: url,
    authorization_servers: ["https://login.example"],
    bearer_methods_supported: ["header"],
    scopes_supported: ["tools"],
  });
  const good = await call("hello", {}, { headers: { authorization: "Bearer good" } });
  expect(good.result).toMatchObject({ content: [{ text: "hello" }] });
});

it("a caller without the right to call is refused, and so is one outside its scopes", async () => {
  const callers: { readonly [token: string]: object } = {
    reader: { by: "r", rights: ["observe"] },
    stranger: { by: "s", rights: ["call"], scopes: ["session:other/"] },
    friend: { by: "f", rights: ["call"], scopes: ["session:"] },
  };
  const verify = (token: string) => ({ by: token, ...callers[token] });
  const { call } = opened([hello], { verify, session: () => "team" });
  const as = (token: string) => call("hello", {}, { headers: { authorization: `Bearer ${token}` } });
  expect((await as("reader")).error).toMatchObject({
    message: "`r` has no right to call",
    data: { code: "permission_denied" },
  });
  expect((await as("stranger")).error).toMatchObject({ message: "`s` has no right in scope session:team" });
  expect((await as("friend")).result).toMatchObject({ content: [{ text: "hello" }] });
});

it("requests have a size and a number that they may not exceed", async () => {
  const { call, fetch, ask: asks } = opened([hello, waits], { maxBytes: 2000, maxInFlight: 1 });
  expect((await call("hello", { text: "x".repeat(3000) })).status).toBe(413);
  const gone = new AbortController();
  const first = fetch(
    requestOf("tools/call", { name: "waits", arguments: {} }, { capabilities: {}, signal: gone.signal }),
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  const second = await asks("tools/list", {});
  expect([second.status, second.headers.get("retry-after")]).toEqual([503, "1"]);
  gone.abort();
  await first;
  expect((await asks("tools/list", {})).status).toBe(200);
});

it("a client that goes away takes a call with it that nobody can come back to", async () => {
  const { fetch, runtime } = opened([waits]);
  const gone = new AbortController();
  const first = fetch(
    requestOf("tools/call", { name: "waits", arguments: {} }, { capabilities: {}, signal: gone.signal }),
  );
  const session = await runtime.session("mcp/local");
  while (session.state.requests.rows().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  gone.abort();
  await first;
  const states = async () => (await session.requests()).map(({ state }) => state);
  for (let tries = 0; tries < 200 && !(await states()).includes("cancelled"); tries++)
    await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await states()).toEqual(["cancelled"]);
});

it("two servers over one journal answer for each other: a request goes to the process that owns the session", async () => {
  const file = join(home, "two.db");
  const [one, two] = [opened([hello, waits], {}, file), opened([hello, waits], {}, file)];
  const [a, b] = [await listen(one.fetch), await listen(two.fetch)];
  ends.unshift(a.close, b.close);
  await one.runtime.announce(a.url);
  await two.runtime.announce(b.url);
  const { taskId } = (await ask(at(a.url), "tools/call", { name: "waits", arguments: {} })).result;
  expect((await ask(at(b.url), "tasks/get", { taskId })).result).toMatchObject({ taskId, status: "working" });
  expect((await ask(at(b.url), "tools/call", { name: "hello", arguments: {} })).result).toMatchObject({
    content: [{ text: "hello" }],
  });
  await ask(at(b.url), "tasks/cancel", { taskId });
  expect(await one.until(taskId, "cancelled")).toMatchObject({ taskId });
});
