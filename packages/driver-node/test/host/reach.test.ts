/** The scopes that a question can reach: none that another process owns, and none that do not exist. */
import { Runtime, memoryJournal } from "@pawl/runtime";
import type { ProcessRegistration } from "@pawl/sansio-core/driver";
import { describe, expect, it } from "vitest";
import { nodePlatform } from "../../src/index.ts";
import { clientOf, greeted, hostOf, roots, runtimeOf } from "./rig.ts";
import { echo, use } from "./tools.ts";

const leased = (journal: ReturnType<typeof memoryJournal>, instance: string, address?: string): Runtime => {
  const lease = address === undefined ? { ttlMs: 60_000 } : { ttlMs: 60_000, address };
  return new Runtime({ journal, platform: nodePlatform, tools: [echo], instance, roots, lease });
};

describe("a host that shares its store", () => {
  it("says where a session of another instance lives", async () => {
    const journal = memoryJournal();
    await leased(journal, "a", "wss://a.example").session("s");
    const host = await hostOf([], { runtime: leased(journal, "b") });
    const refused = { code: "owned_by", address: "wss://a.example", retryAfterMs: undefined };
    await expect(clientOf(host).session("s").request("r", use("echo"))).rejects.toMatchObject(refused);
    const events = clientOf(host).session("s").observe();
    await expect(events.next()).rejects.toMatchObject({ code: "owned_by", address: "wss://a.example" });
  });
});

describe("a question that is no call", () => {
  it("creates no session, whatever the rights of its token, and reads an existing one", async () => {
    const journal = memoryJournal();
    const host = await hostOf([], { runtime: runtimeOf([echo], journal) });
    const reader = clientOf(host).session("s");
    await expect(reader.open()).rejects.toMatchObject({ code: "scope_unknown" });
    await expect(reader.observe().next()).rejects.toMatchObject({ code: "scope_unknown" });
    await expect(reader.resolveById("k", { status: "timeout" })).rejects.toMatchObject({ code: "scope_unknown" });
    await expect(reader.approve("r:c", { hash: "h" })).rejects.toMatchObject({ code: "scope_unknown" });
    await expect(reader.cancel({ request: "r" })).rejects.toMatchObject({ code: "scope_unknown" });
    await expect(reader.watch().next()).rejects.toMatchObject({ code: "scope_unknown" });
    expect(await journal.scopes("", "", 10)).toEqual([]);
    await clientOf(host).session("s").request("r", use("echo"));
    expect(await reader.open()).toBeGreaterThan(0);
    expect((await reader.observe().next()).value).toMatchObject({ cursor: 1 });
  });
});

const registration: ProcessRegistration = {
  id: "p",
  input: { type: "external", metadata: { label: "outside" } },
  identity: { kind: "external" },
  event_types: [{ name: "signal.go", payload_schema: { schema: {} }, semantics: {} }],
  provenance: { originator: { type: "host" } },
};

describe("a signal", () => {
  it("reaches an existing process, once for each id", async () => {
    const journal = memoryJournal();
    const host = await hostOf([], { runtime: runtimeOf([], journal) });
    const seq = async () => (await journal.scopes("process:p", "", 1))[0]?.seq ?? 0;
    const client = clientOf(host);
    const signal = { name: "go", payload: { n: 1 }, signalId: "s1" };
    await expect(client.signal("p", signal)).rejects.toMatchObject({ code: "scope_unknown" });
    await expect(client.signal("", signal)).rejects.toMatchObject({ code: "invalid_argument" });
    const nameless = { type: "signal", id: 1, scope: "process:", name: "go", payload: 1, signal_id: "s1" };
    expect(await (await greeted(host)).ask(nameless)).toMatchObject({ type: "error", code: "scope_unknown" });
    await host.runtime.processes.start(registration);
    const before = await seq();
    await client.signal("p", signal);
    const after = await seq();
    expect(after).toBeGreaterThan(before);
    await client.signal("p", signal);
    expect(await seq()).toBe(after);
    const mute = clientOf(host, { rights: ["observe"] });
    await expect(mute.signal("p", signal)).rejects.toMatchObject({ code: "permission_denied" });
  });
});
