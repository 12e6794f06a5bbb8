/** Sessions over HTTP: listed, waited for, seen by those whom the token allows; and logins of pages. */
import { defineTool, memoryJournal } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import { ask, everything, hostOf, read, runtimeOf } from "./rig.ts";

const echo = defineTool({ name: "echo", durable: true, execute: (args) => args });
const fails = defineTool({
  name: "fails",
  durable: true,
  execute: () => {
    throw new Error("no");
  },
});
const asked = defineTool({ name: "asked", durable: true, needsApproval: true, execute: (args) => args });
const body = (tool: string) => ({ method: "POST", body: { calls: [{ tool, args: {} }] } });
const at = (session: string, request = "r") => `/v1/sessions/${session}/requests/${request}`;

describe("sessions", () => {
  it("are listed by name with what each is at, whether in memory or not, and nobody claims them for that", async () => {
    const journal = memoryJournal();
    const first = runtimeOf([echo, fails, asked], journal, "i1");
    const before = await hostOf([], { runtime: first });
    const prefer = { prefer: "wait=20" };
    await ask(before, at("b"), { ...body("fails"), headers: prefer });
    await ask(before, at("a"), { ...body("echo"), headers: prefer });
    await ask(before, at("c"), body("asked"));
    await (await first.session("c")).describe({ title: "Asks", tags: ["shop"] });
    await expect.poll(() => first.awaitingApproval()).toHaveLength(1);
    const listed = [
      { session: "a", tags: [], status: { state: "done" } },
      { session: "b", status: { state: "failed" } },
      { session: "c", title: "Asks", tags: ["shop"], status: { state: "waiting", waits_for: "person" } },
    ];
    const [, inMemory] = await read(ask(before, "/v1/sessions"));
    expect(inMemory).toMatchObject({ sessions: listed });
    await before.close();
    await first.close();

    const next = await hostOf([], { runtime: runtimeOf([echo, fails, asked], journal, "i2") });
    expect(await read(ask(next, "/v1/sessions"))).toEqual([200, inMemory]);
    expect(next.runtime.inMemory).toBe(0);
    const two = { sessions: listed.slice(0, 2), next: "b" };
    expect(await read(ask(next, "/v1/sessions?limit=2"))).toMatchObject([200, two]);
    expect(await read(ask(next, "/v1/sessions?after=b"))).toMatchObject([200, { sessions: listed.slice(2) }]);
    const scopes = ["session:c", "session:a"];
    const covered = { sessions: [listed[0], listed[2]] };
    expect(await read(ask(next, "/v1/sessions", { as: { scopes } }))).toMatchObject([200, covered]);
    expect((await ask(next, "/v1/sessions", { as: { scopes: ["process:"] } })).status).toBe(403);
  });

  it("are answered again as soon as something is new, and with nothing after the time that the reader waits", async () => {
    const host = await hostOf([echo, asked]);
    await ask(host, at("a"), { ...body("echo"), headers: { prefer: "wait=20" } });
    for (const [list, session] of [
      ["/v1/sessions", "b"],
      ["/v1/approvals", "c"],
      ["/v1/sessions/a", "a"],
    ] as const) {
      const first = await ask(host, list);
      const has = { "if-none-match": first.headers.get("etag") as string };
      const same = await ask(host, list, { headers: { ...has, prefer: "wait=1" } });
      expect([list, same.status, await same.text()]).toEqual([list, 304, ""]);
      const news = ask(host, list, { headers: { ...has, prefer: "wait=20" } });
      await ask(host, at(session, "r2"), body("asked"));
      const answer = await news;
      expect([list, answer.status, (await answer.text()).includes(`"${session}"`)]).toEqual([list, 200, true]);
      await expect.poll(async () => (await host.runtime.session(session)).approvals()).toHaveLength(1);
    }
  });

  it("say of one what its calls wait for", async () => {
    const host = await hostOf([asked]);
    await ask(host, at("a"), body("asked"));
    await expect
      .poll(async () => (await read(ask(host, "/v1/sessions/a")))[1])
      .toMatchObject({
        status: { state: "waiting", waits_for: "person" },
        calls: [{ call: "r:1", tool: "asked", waits: expect.stringContaining("approval") }],
      });
    expect(await read(ask(host, "/v1/sessions/none"))).toMatchObject([404, { code: "scope_unknown" }]);
    expect(await host.runtime.has("session:none")).toBe(false);
  });
});

describe("a login", () => {
  it("is a cookie of the token's rights, for pages of the host's own only", async () => {
    const host = await hostOf([echo]);
    const logIn = await ask(host, "/v1/login", { method: "POST" });
    expect([logIn.status, await logIn.json()]).toEqual([200, everything]);
    const cookie = logIn.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^pawl-\d+=pawl1\.[\w.-]+; HttpOnly; SameSite=Strict; Path=\/v1; Max-Age=\d+$/);
    const [pair = ""] = cookie.split(";");
    const whoAmI = async (headers: { readonly [name: string]: string }) =>
      (await ask(host, "/v1/login", { token: "", headers: { cookie: `other=1; ${pair}`, ...headers } })).status;
    expect(await whoAmI({})).toBe(200);
    expect(await whoAmI({ origin: host.http })).toBe(200);
    expect(await whoAmI({ cookie: "pawl-1=x" })).toBe(401);
    const allowed = await hostOf([echo], { origins: ["https://shop.example"] });
    const theirs = { origin: "https://shop.example", cookie: pair.replace(/^pawl-\d+/, `pawl-${allowed.port}`) };
    expect((await ask(allowed, "/v1/login", { token: "", headers: theirs })).status).toBe(401);
    const out = await ask(host, "/v1/login", { method: "DELETE", token: "" });
    expect([out.status, out.headers.get("set-cookie")]).toEqual([204, expect.stringContaining("Max-Age=0")]);
    const again = await ask(host, "/v1/login", { method: "POST", token: "", headers: { cookie: pair } });
    expect(again.status).toBe(401);
  });
});
