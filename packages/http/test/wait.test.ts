/** Waits that the outside resolves by their address. */
import { type ToolDefinition, defineTool } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import { ask, hostOf, read } from "./rig.ts";

const session = "/v1/sessions/s";

/** Waits for an event, and hands out where to send it. */
const waits = () => {
  const handed: { token: string; url: string | undefined }[] = [];
  const tool: ToolDefinition = defineTool({
    name: "waits",
    durable: true,
    execute: async (_, ctx) => {
      const paid = ctx.waitFor("paid");
      await ctx.run("hand out", () => void handed.push({ token: paid.token, url: paid.url }));
      return paid;
    },
  });
  return { tool, handed };
};

const began = async (options = {}) => {
  const { tool, handed } = waits();
  const host = await hostOf([tool], options);
  await ask(host, `${session}/requests/r`, { method: "POST", body: { calls: [{ tool: "waits", args: {} }] } });
  await expect.poll(() => handed).toHaveLength(1);
  const post = (body: unknown, init = {}, query = "") =>
    ask(host, `/v1/waits/${handed[0]?.token}${query}`, { method: "POST", body, token: "", ...init });
  const outcome = async () => {
    const [, view] = await read(ask(host, `${session}/requests/r`, { headers: { prefer: "wait=20" } }));
    return (view as { replies: readonly { output: { outcome: object } }[] }).replies[0]?.output.outcome;
  };
  return { host, post, outcome, handed };
};

describe("a wait", () => {
  it("is told what is posted to its address, by whoever has the address", async () => {
    const { post, outcome } = await began();
    expect(await read(post({ amount: 3, currency: "EUR" }))).toEqual([200, { status: "accepted" }]);
    expect(await outcome()).toMatchObject({ status: "success", payload: { amount: 3, currency: "EUR" } });
  });

  it("is resolved once: what is posted again counts as the same, anything else comes too late", async () => {
    const { post, outcome } = await began();
    const twice = await Promise.all([read(post({ n: 1 })), read(post({ n: 1 }))]);
    expect(twice).toEqual([
      [200, { status: "accepted" }],
      [200, { status: "accepted" }],
    ]);
    const late = { status: "already_resolved", terminal: { status: "ok", payload: { n: 1 } } };
    expect(await read(post({ n: 2 }))).toEqual([200, late]);
    expect(await read(post({ n: 1 }, { headers: { "webhook-id": "msg_2" } }))).toEqual([200, late]);
    expect(await outcome()).toMatchObject({ payload: { n: 1 } });
    expect(await read(post({ n: 1 }))).toEqual([200, { status: "accepted" }]);
  });

  it("fails where the outside says so, and takes an empty body for nothing", async () => {
    const failed = await began();
    expect(await read(failed.post({ message: "no" }, {}, "?status=err"))).toMatchObject([
      400,
      { code: "invalid_argument" },
    ]);
    expect((await failed.post({ code: "declined", message: "no" }, {}, "?status=err")).status).toBe(200);
    expect(await failed.outcome()).toMatchObject({ status: "failure" });
    const empty = await began();
    expect((await empty.post(undefined)).status).toBe(200);
    expect(await empty.outcome()).toMatchObject({ status: "success", payload: null });
  });

  it("has no address that anybody could guess", async () => {
    const { host, handed, post } = await began();
    const token = handed[0]?.token ?? "";
    const others = [
      "none",
      `${token}0`,
      token.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
      token.toUpperCase(),
    ];
    for (const other of others)
      expect(
        await read(ask(host, `/v1/waits/${encodeURIComponent(other)}`, { method: "POST", body: 1, token: "" })),
      ).toMatchObject([404, { code: "wait_unknown" }]);
    expect((await post(1, { token: "pawl1.e30.AAAA" })).status).toBe(401);
    expect(
      (await host.runtime.session("s")).state.waits.rows().filter(({ terminal }) => terminal !== undefined),
    ).toEqual([]);
  });

  it("tells its body its address where the host knows its own", async () => {
    expect((await began()).handed[0]?.url).toBeUndefined();
    const { handed, host } = await began({ publicUrl: "wss://pawl.example/" });
    expect(handed[0]?.url).toBe(`https://pawl.example/v1/waits/${handed[0]?.token}`);
    const { pathname } = new URL(handed[0]?.url ?? "");
    expect(await read(ask(host, pathname, { method: "POST", body: 7, token: "" }))).toEqual([
      200,
      { status: "accepted" },
    ]);
  });
});
