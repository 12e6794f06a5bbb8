/** Approvals over HTTP: one list over all sessions of a token, and decisions that count once. */
import { defineTool } from "@pawl/runtime";
import { stableHash } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { ask, hostOf, read } from "./rig.ts";

const asked = defineTool<{ readonly amount: number }>({
  name: "asked",
  durable: true,
  needsApproval: true,
  inputSchema: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  execute: ({ amount }) => amount * 2,
});
const hash = stableHash({ amount: 1 });
const at = (session: string, rest: string) => `/v1/sessions/${encodeURIComponent(session)}/${rest}`;

const hostWith = async (...sessions: readonly string[]) => {
  const host = await hostOf([asked]);
  const body = { calls: [{ id: "c", tool: "asked", args: { amount: 1 } }] };
  for (const session of sessions) await ask(host, at(session, "requests/r"), { method: "POST", body });
  await expect.poll(() => host.runtime.awaitingApproval()).toHaveLength(sessions.length);
  return host;
};
const outcome = async (host: Awaited<ReturnType<typeof hostWith>>, session: string) => {
  const [, view] = await read(ask(host, at(session, "requests/r"), { headers: { prefer: "wait=20" } }));
  return (view as { replies: readonly { output: { outcome: object } }[] }).replies[0]?.output.outcome;
};

describe("approvals", () => {
  it("are listed over all sessions that a token covers, page by page", async () => {
    const host = await hostWith("team-1/a", "team-1/b", "team-2/c", "z");
    const names = async (query: string, scopes: readonly string[]) => {
      const [status, page] = await read(ask(host, `/v1/approvals${query}`, { as: { scopes } }));
      const { sessions = [], next } = page as { sessions?: readonly { session: string }[]; next?: string };
      return [status, sessions.map(({ session }) => session), next];
    };
    expect(await names("", ["session:"])).toEqual([200, ["team-1/a", "team-1/b", "team-2/c", "z"], undefined]);
    expect(await names("", [""])).toEqual([200, ["team-1/a", "team-1/b", "team-2/c", "z"], undefined]);
    expect(await names("?limit=2", ["session:"])).toEqual([200, ["team-1/a", "team-1/b"], "team-1/b"]);
    expect(await names("?limit=2&after=team-1%2Fb", ["session:"])).toEqual([200, ["team-2/c", "z"], undefined]);
    const two = ["session:z", "session:team-1/", "session:team-1/b"];
    expect(await names("", two)).toEqual([200, ["team-1/a", "team-1/b", "z"], undefined]);
    expect(await names("?limit=2", two)).toEqual([200, ["team-1/a", "team-1/b"], "team-1/b"]);
    expect(await names("?limit=2&after=team-1%2Fb", two)).toEqual([200, ["z"], undefined]);
    expect(await names("?prefix=team-2%2F", ["session:"])).toEqual([200, ["team-2/c"], undefined]);
    expect((await names("?prefix=team-2%2F", ["session:team-1/"]))[0]).toBe(403);
    const [, page] = await read(ask(host, "/v1/approvals?limit=1"));
    expect(page).toMatchObject({
      sessions: [
        { session: "team-1/a", count: 1, approvals: [{ call: "r:c", tool: "asked", args: { amount: 1 }, hash }] },
      ],
    });
  });

  it("are decided: as they are, with other arguments, or not at all", async () => {
    const host = await hostWith("a", "b", "c");
    const decide = (session: string, body: object) =>
      ask(host, at(session, "approvals/r%3Ac"), { method: "POST", body });
    expect((await decide("a", { decision: "approve", hash })).status).toBe(204);
    expect((await decide("b", { decision: "approve", hash, args: { amount: 5 } })).status).toBe(204);
    expect((await decide("c", { decision: "reject", hash, reason: "too much" })).status).toBe(204);
    expect(await outcome(host, "a")).toMatchObject({ status: "success", payload: 2 });
    expect(await outcome(host, "b")).toMatchObject({ status: "success", payload: 10 });
    expect(await outcome(host, "c")).toMatchObject({ status: "failure", payload: { code: "approval_rejected" } });
    expect(await read(ask(host, at("a", "approvals")))).toEqual([200, { approvals: [] }]);
  });

  it("count once: the same decision again is answered as it was, another one is told that it is late", async () => {
    const host = await hostWith("a");
    const body = { decision: "approve", hash };
    const decide = (said: object, headers = {}) =>
      ask(host, at("a", "approvals/r%3Ac"), { method: "POST", body: said, headers });
    const both = await Promise.all([decide(body), decide(body)]);
    expect(both.map(({ status }) => status)).toEqual([204, 204]);
    expect((await decide(body)).status).toBe(204);
    const late = await decide({ decision: "reject", hash, reason: "no" });
    expect([late.status, await late.json()]).toMatchObject([409, { code: "call_ended" }]);
    expect((await decide(body, { "idempotency-key": "mine" })).status).toBe(409);
  });

  it("are refused on arguments that the decider did not see, or that do not fit", async () => {
    const host = await hostWith("a");
    const decide = (body: object, as = {}) => read(ask(host, at("a", "approvals/r%3Ac"), { method: "POST", body, as }));
    expect(await decide({ decision: "approve", hash: stableHash({ amount: 2 }) })).toMatchObject([
      409,
      { code: "stale_decision" },
    ]);
    expect(await decide({ decision: "approve", hash, args: { amount: "much" } })).toMatchObject([
      422,
      { code: "invalid_tool_args" },
    ]);
    expect(await decide({ decision: "reject", hash })).toMatchObject([400, { code: "invalid_argument" }]);
    expect(await decide({ decision: "approve", hash }, { rights: ["observe", "call"] })).toMatchObject([403, {}]);
    expect(
      await read(ask(host, at("a", "approvals/none"), { method: "POST", body: { decision: "approve", hash } })),
    ).toMatchObject([404, { code: "call_unknown" }]);
  });
});
