/** Requests over HTTP: submitted, joined, waited for, cancelled, acknowledged, refused. */
import { defineTool } from "@pawl/runtime";
import { pending } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { ask, hostOf, read } from "./rig.ts";

const path = "/v1/sessions/team-1%2Fann/requests/turn%201";
const use = (tool: string, args: object = {}) => ({ calls: [{ id: "c", tool, args }] });

/** Counts the runs of its body, and answers when it is let. */
const held = () => {
  const { promise: let_, resolve: go } = Promise.withResolvers<void>();
  const ran: unknown[] = [];
  const execute = async (args: unknown): Promise<unknown> => {
    ran.push(args);
    await let_;
    return args;
  };
  return { ran, go, tool: defineTool({ name: "held", durable: true, execute }) };
};

describe("a request over HTTP", () => {
  it("is recorded at once, and its replies are asked for where the answer says", async () => {
    const { ran, go, tool } = held();
    const host = await hostOf([tool]);
    const first = await ask(host, path, { method: "POST", body: use("held", { n: 1 }) });
    expect([first.status, first.headers.get("location"), first.headers.get("cache-control")]).toEqual([
      202,
      path,
      "no-store",
    ]);
    expect(await first.json()).toMatchObject({ status: { request: "turn 1", state: "working" } });

    const [status, joined] = await read(ask(host, path, { method: "POST", body: use("held", { n: 1 }) }));
    expect([status, joined]).toMatchObject([202, { status: { state: "working" } }]);
    const waiting = ask(host, path, { headers: { prefer: "wait=20" } });
    go();
    const answer = await waiting;
    expect(answer.headers.get("preference-applied")).toBe("wait=20");
    const whole = await answer.json();
    expect(whole).toMatchObject({
      status: { state: "done" },
      replies: [
        { call: "turn 1:c", call_id: "c", tool: "held", output: { outcome: { status: "success", payload: { n: 1 } } } },
      ],
    });
    expect(await read(ask(host, path, { method: "POST", body: use("held", { n: 1 }) }))).toEqual([200, whole]);
    expect(ran).toEqual([{ n: 1 }]);
  });

  it("waits no longer than its caller prefers", async () => {
    const { go, tool } = held();
    const host = await hostOf([tool]);
    const began = Date.now();
    const init = { method: "POST", body: use("held"), headers: { prefer: "respond-async, wait=1" } };
    const [status, body] = await read(ask(host, path, init));
    expect([status, body]).toMatchObject([202, { status: { state: "working" } }]);
    expect(Date.now() - began).toBeGreaterThan(900);
    const joined = read(ask(host, path, { ...init, headers: { prefer: 'wait="20"' } }));
    go();
    expect(await joined).toMatchObject([200, { status: { state: "done" } }]);
  });

  it("keeps its replies until they are acknowledged, and answers from the log afterwards", async () => {
    const host = await hostOf([defineTool({ name: "echo", durable: true, execute: (args) => args })]);
    const [, first] = await read(
      ask(host, path, { method: "POST", body: use("echo"), headers: { prefer: "wait=20" } }),
    );
    const session = await host.runtime.session("team-1/ann");
    expect(session.state.requests.at("turn 1")?.phase).toBe("replying");
    expect((await ask(host, `${path}/acknowledge`, { method: "POST" })).status).toBe(204);
    expect(session.state.requests.at("turn 1")).toBeUndefined();
    expect((await ask(host, `${path}/acknowledge`, { method: "POST" })).status).toBe(204);
    expect(await read(ask(host, path))).toMatchObject([200, { replies: (first as { replies: unknown }).replies }]);
    expect(await read(ask(host, "/v1/sessions/team-1%2Fann/requests"))).toMatchObject([
      200,
      { requests: [{ request: "turn 1", state: "done" }] },
    ]);
    expect(await read(ask(host, "/v1/sessions/team-1%2Fann/requests?after=99&limit=5"))).toEqual([
      200,
      { requests: [] },
    ]);
  });

  it("is cancelled, twice as once", async () => {
    const tool = defineTool({ name: "outside", execute: (_, ctx) => (ctx.completionKey(), pending({})) });
    const host = await hostOf([tool]);
    await ask(host, path, { method: "POST", body: use("outside") });
    await expect.poll(async () => (await read(ask(host, path)))[1]).toMatchObject({ status: { waits_for: "outside" } });
    for (let n = 0; n < 2; n++)
      expect(await read(ask(host, path, { method: "DELETE" }))).toMatchObject([
        200,
        { status: { state: "cancelled" } },
      ]);
    expect(await read(ask(host, path))).toMatchObject([
      200,
      { replies: [{ output: { outcome: { status: "cancelled" } } }] },
    ]);
  });
});

const smallHost = () =>
  hostOf([defineTool({ name: "echo", durable: true, execute: (args) => args })], {
    limits: { maxMessageBytes: 500 },
  });

describe("a request that is refused", () => {
  const json = { method: "POST", body: use("echo") };

  it.each([
    ["of another content under its name", 409, "request_conflict", { ...json, body: use("echo", { other: 1 }) }],
    ["without a token", 401, "unauthorized", { ...json, token: "" }],
    ["with a token of nobody", 401, "unauthorized", { ...json, token: "pawl1.e30.AAAA" }],
    ["with a token that has expired", 401, "unauthorized", { ...json, as: { expires_at: Date.UTC(2002) } }],
    ["with a token for other sessions", 403, "permission_denied", { ...json, as: { scopes: ["session:team-2/"] } }],
    ["with a token for other things", 403, "permission_denied", { ...json, as: { rights: ["observe" as const] } }],
    [
      "from a page of another origin",
      403,
      "permission_denied",
      { ...json, headers: { origin: "https://evil.example" } },
    ],
    ["with a body that is no JSON", 400, "invalid_json", { ...json, body: '{"calls": [' }],
    ["with a body of another form", 400, "invalid_argument", { ...json, body: { calls: {} } }],
    ["with a body of another type", 415, "not_json", { ...json, headers: { "content-type": "text/plain" } }],
    ["with a body that is too large", 413, "too_large", { ...json, body: use("echo", { text: "x".repeat(500) }) }],
    ["by a method that there is not", 405, "method_unknown", { method: "PUT", body: {} }],
  ])("%s", async (_, status, code, init) => {
    const open = await smallHost();
    await ask(open, path, { method: "POST", body: use("echo"), headers: { prefer: "wait=20" } });
    const response = await ask(open, path, init);
    expect([response.status, response.headers.get("content-type")]).toEqual([status, "application/problem+json"]);
    expect(await response.json()).toMatchObject({
      type: `urn:pawl:error:${code}`,
      status,
      code,
      title: expect.any(String),
      detail: expect.any(String),
    });
    expect(response.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
    expect(response.headers.get("allow")).toBe(status === 405 ? "POST, GET, DELETE" : null);
  });

  it.each([
    ["of a session that there is not", 404, "scope_unknown", "/v1/sessions/none/requests/r"],
    ["of a name that nobody submitted", 404, "request_unknown", "/v1/sessions/team-1%2Fann/requests/none"],
    ["at an address that there is not", 404, "route_unknown", "/v1/session"],
    ["at an address without a name", 404, "route_unknown", "/v1/sessions//requests/r"],
    ["at an address that is not encoded", 400, "invalid_argument", "/v1/sessions/%E0%A4%A/requests/r"],
    ["with a page that is no number", 400, "invalid_argument", "/v1/sessions/team-1%2Fann/requests?after=-1"],
  ])("%s", async (_, status, code, at) => {
    const open = await smallHost();
    await ask(open, path, { method: "POST", body: use("echo"), headers: { prefer: "wait=20" } });
    expect(await read(ask(open, at))).toMatchObject([status, { code, status }]);
  });

  it("leaves nothing behind", async () => {
    const open = await smallHost();
    await ask(open, path, { ...json, body: { calls: {} } });
    expect(await open.runtime.has("session:team-1/ann")).toBe(false);
  });
});
