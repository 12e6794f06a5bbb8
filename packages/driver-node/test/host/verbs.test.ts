import { ToolFailed, defineTool } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import { clientOf, hostOf } from "./rig.ts";
import { echo, outside } from "./tools.ts";
import { until } from "../until.ts";

const pay = defineTool({ name: "pay", needsApproval: true, execute: (args) => ({ paid: args as never }) });
const fails = defineTool({
  name: "fails",
  execute: () => {
    throw new Error("inside");
  },
});

describe("a session at a host", () => {
  it("calls a tool and has its result, or its failure", async () => {
    const session = clientOf(await hostOf([echo, fails])).session("s");
    expect(await session.call("echo", { a: 1 }, { id: "r1" })).toEqual({ a: 1 });
    expect(await session.result("r1")).toEqual({ a: 1 });
    const failed = session.call("fails", {}, { id: "r2", label: "model-2" });
    await expect(failed).rejects.toThrow(ToolFailed);
    await expect(failed).rejects.toMatchObject({ class: "internal", reply: { call: "r2:model-2", tool: "fails" } });
  });

  it("says what its requests wait for, and lets them be approved without a hash", async () => {
    const session = clientOf(await hostOf([pay, echo])).session("s");
    await session.call("echo", 1, { id: "r0" });
    const paid = session.call("pay", { amount: 5 }, { id: "r1" });
    await until(async () => (await session.approvals()).length === 1);
    expect(await session.status("r1")).toMatchObject({ request: "r1", state: "waiting", waitsFor: "person" });
    const listed = await session.requests();
    expect(listed.map(({ request, state }) => [request, state])).toEqual([
      ["r0", "done"],
      ["r1", "waiting"],
    ]);
    expect(await session.requests({ after: listed[0]?.seq ?? 0 })).toHaveLength(1);
    for (const asked of await session.approvals()) await asked.approve({ args: { amount: 4 } });
    expect(await paid).toEqual({ paid: { amount: 4 } });
    await expect(session.status("none")).rejects.toMatchObject({ code: "request_unknown" });
  });

  it("keeps values, a title and tags, and turns tools off", async () => {
    const host = await hostOf([echo]);
    const session = clientOf(host).session("s");
    await session.call("echo", 1, { id: "r0" });
    await session.store.set("seats", [3]);
    expect(await session.store.get("seats")).toEqual([3]);
    await session.store.set("seats", null);
    expect(await session.store.get("seats")).toBeUndefined();
    await session.describe({ title: "A trip", tags: ["ann"] });
    expect(await session.about()).toEqual({ title: "A trip", tags: ["ann"] });
    await session.setAvailability(["echo"], "off");
    await expect(session.call("echo", 1, { id: "r1" })).rejects.toMatchObject({ code: "tool_unavailable" });
    await session.setAvailability(["echo"], null);
    expect(await session.call("echo", 1, { id: "r2" })).toBe(1);
    const reader = clientOf(host, { rights: ["observe"] }).session("s");
    await expect(reader.store.set("a", 1)).rejects.toMatchObject({ code: "permission_denied" });
  });

  it("is found by the token of a wait", async () => {
    const { tool, tokens } = outside();
    const client = clientOf(await hostOf([tool]));
    const result = client.session("s").call("outside", {}, { id: "r" });
    await until(() => tokens.length === 1);
    const resolution = { status: "ok", payload: 3 } as const;
    expect(await client.resolve("v3.of.nobody", resolution)).toEqual({ status: "unknown_or_revoked" });
    expect(await client.resolve(tokens[0] ?? "", resolution)).toEqual({ status: "accepted" });
    expect(await result).toBe(3);
  });
});
