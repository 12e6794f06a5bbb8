import { describe, expect, it } from "vitest";
import { callLabel, sessionId, sessionRequest } from "../../src/rename/session.ts";
import { rewritten } from "./frame.ts";

const requests = (before: string): string => rewritten(sessionRequest, before);
const labels = (before: string): string => rewritten(callLabel, before);
const scopes = (before: string): string => rewritten(sessionId, before);

describe("`call(id, calls)` of a session becomes `request(id, calls)`", () => {
  it("with calls that are an array, are named so, or are made by a function", () => {
    expect(requests('await session.call("turn-1", [{ tool, args }], { keep: true });')).toBe(
      'await session.request("turn-1", [{ tool, args }], { keep: true });',
    );
    expect(requests("(await open()).call(act.request, act.calls)")).toBe(
      "(await open()).request(act.request, act.calls)",
    );
    expect(requests('client.session("s").call(`r${n}`, use("echo"))')).toBe(
      'client.session("s").request(`r${n}`, use("echo"))',
    );
  });

  it("but not of functions, nor where one tool is called", () => {
    const others = [
      "fn.call(this, [1]);",
      'Object.prototype.hasOwnProperty.call(o, "a");',
      "thread.call(method, args);",
      'session.call(bookTrip, { to: "Lviv" }, { id: "turn-1" });',
      'session.call("echo", args, { id: "turn-1" });',
      'session.call("book_trip", { to: "Lviv" }, { id: "turn-1" });',
    ].join("\n");
    expect(requests(others)).toBe(others);
  });
});

describe("`id` of a call becomes its `label`", () => {
  it("in an object that has the fields of a call and no others", () => {
    expect(labels('const calls = [{ id: "c1", tool: "pay", args: {} }, { id, tool, args, by_id: true }];')).toBe(
      'const calls = [{ label: "c1", tool: "pay", args: {} }, { label: id, tool, args, byId: true }];',
    );
    expect(labels('const use = (more) => [{ id: "c", tool: "t", args: {}, ...more }];')).toBe(
      'const use = (more) => [{ label: "c", tool: "t", args: {}, ...more }];',
    );
    const other = 'const row = { id: "c1", tool: "pay", args: {}, price: 3 };';
    expect(labels(other)).toBe(other);
  });

  it("but not in an event of a log", () => {
    const event = 'const e = { type: "request.submitted", calls: [{ id: "c", tool: "t", args: {} }] };';
    expect(labels(event)).toBe(event);
  });
});

describe("`sessionId`", () => {
  it("is the scope of a body, and the session of hooks, projections and preparation", () => {
    expect(scopes("const tool = { execute: (_, ctx) => ctx.sessionId };")).toBe(
      "const tool = { execute: (_, ctx) => ctx.scope };",
    );
    expect(scopes("const tool = { execute: async (_, { sessionId, sleep }) => sessionId };")).toBe(
      "const tool = { execute: async (_, { scope: sessionId, sleep }) => sessionId };",
    );
    expect(
      scopes("const plugin = { beforeToolCall: ({ sessionId: id }) => id, prepare: (_, c) => c.sessionId };"),
    ).toBe("const plugin = { beforeToolCall: ({ session: id }) => id, prepare: (_, c) => c.session };");
  });

  it("of anything else stays", () => {
    const other = "const id = transport.sessionId; const tool = { execute: () => transport.sessionId };";
    expect(scopes(other)).toBe(other);
  });
});
