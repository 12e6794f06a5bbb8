/** Handles, as a host works with them; and what becomes of them with their session. */
import { describe, expect, it } from "vitest";
import { Patient, begin, engine, held, messageOf } from "./host.ts";
import { eventType, program } from "./world.ts";

describe("handles", () => {
  it("are listed, handed on, validated, and cancelled but for those to keep", async () => {
    const { engines } = new Patient();
    const { processes, world } = begin({ engines });
    for (const id of ["a", "b"]) await processes.start(engine(id, { wake_target: held }));
    await world.quiet();
    expect((await processes.list(held)).map(({ id }) => id)).toEqual(["a", "b"]);
    await processes.validate(held, ["a", "b"]);
    expect(await messageOf(processes.validate(held, ["c"]))).toBe("process handle `c` is not granted to session `s`");
    expect((await processes.cancelUnreferenced(held, ["a"], "not needed")).map(({ id }) => id)).toEqual(["b"]);
    expect(await processes.await("b")).toMatchObject({ type: "cancelled" });
    await world.quiet();
    expect((await processes.list(held)).map(({ id }) => id)).toEqual(["a"]);
    expect(await processes.list(held, "all", ({ status }) => status === "cancelled")).toMatchObject([{ id: "b" }]);
    await processes.transfer(held, { session_id: "t" }, ["a"]);
    expect(await messageOf(processes.transfer(held, { session_id: "t" }, ["a"]))).toContain("is not granted");
    await world.quiet();
    expect((await processes.list({ session_id: "t" })).map(({ id }) => id)).toEqual(["a"]);
    await processes.cancelAll({ session_id: "t" }, null);
    expect(await processes.await("a")).toMatchObject({ type: "cancelled" });
  });
});

describe("a session that is deleted", () => {
  it("reports what lives on, ends its calls, and is woken by nothing", async () => {
    const { engines } = new Patient();
    const woken: string[] = [];
    const wakes = eventType("note", { wake: { input: "payload", dedupe_key: "event_identity" } });
    const body = program("body", (ctx) => ctx.sleep(1e9));
    const runtime = begin({ engines, wake: async ({ input }) => void woken.push(input) }, [body]);
    const { processes, world } = runtime;
    for (const id of ["a", "b"]) await processes.start(engine(id, { wake_target: held, event_types: [wakes] }));
    await world.quiet();
    const session = await runtime.session("s");
    const reply = session.request("r", [{ label: "b", tool: "body", args: {} }]);
    await processes.transfer(held, { session_id: "t" }, ["b"]);
    await processes.append("a", { event_type: "note", payload: "before" });
    await world.quiet();
    const report = processes.deleteSession("s");
    expect(await report).toEqual({ orphaned: ["a"], preserved: [] });
    expect(await processes.deleteSession("s")).toEqual({ orphaned: ["a"], preserved: [] });
    world.platform.advance(100);
    expect((await reply)[0]?.output.outcome.status).toBe("cancelled");
    await processes.append("a", { event_type: "note", payload: "after" });
    await world.quiet();
    expect(woken).toEqual(["before"]);
    expect((await processes.read("a")).status.state).toBe("running");
    expect((await processes.read("a")).wake_target).toBeUndefined();
    expect(await processes.deleteSession("t")).toEqual({ orphaned: ["b"], preserved: [] });
    expect(await messageOf(session.request("r2", [{ label: "b", tool: "body", args: {} }]))).toContain("was deleted");
  });
});
