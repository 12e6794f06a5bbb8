import { err } from "@pawl/tool-value";
import { isLeft } from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { Registry, type ToolManifest, type ToolProvider, defineTool } from "../../src/index.ts";
import { type ToolContract, manifestByName, WireToolDefinition } from "../../src/driver.ts";
import { World } from "../world.ts";

const says = (name: string, text: string, id = `tool:${name}`) => defineTool({ name, id, execute: () => text });
const call = (tool: string, more: object = {}) => [{ label: "c", tool, args: {}, ...more }];

const wire = (name: string, more: object = {}): ToolManifest & ToolContract => {
  const decoded = WireToolDefinition.decode({ id: `tool:${name}`, name, output_schema: null, ...more });
  if (isLeft(decoded)) throw new Error(`no definition of ${name}`);
  return decoded.right;
};

/** A provider whose list is another whenever it says so. */
class Shelf implements ToolProvider {
  listed: readonly (ToolManifest & ToolContract)[];
  #changed: () => void = () => undefined;
  constructor(...listed: readonly (ToolManifest & ToolContract)[]) {
    this.listed = listed;
  }
  manifests = (): readonly ToolManifest[] => this.listed;
  resolveContract = (name: string): ToolContract | undefined => this.listed.find((one) => one.name === name);
  execute: ToolProvider["execute"] = ({ tool, args }) => ({ tool, args });
  watch = (changed: () => void): (() => void) => {
    this.#changed = changed;
    return () => {
      this.#changed = () => undefined;
    };
  };
  relist(...listed: readonly (ToolManifest & ToolContract)[]): void {
    this.listed = listed;
    this.#changed();
  }
}

describe("a registry", () => {
  it("replaces a tool of the same name, and gives back what it takes out", () => {
    const [first, second] = [says("t", "first"), says("t", "second")];
    const registry = new Registry([first]).register(second);
    expect([registry.size, registry.get("t"), registry.has("u")]).toEqual([1, second, false]);
    const copy = registry.copy();
    expect([registry.unregister("t"), registry.unregister("t"), registry.isEmpty]).toEqual([second, undefined, true]);
    expect([copy.names(), copy.definitions()]).toEqual([["t"], [second]]);
    copy.clear();
    expect(copy.size).toBe(0);
  });

  it("has no two tools of one id, and none that does not fit its manifest", () => {
    const registry = new Registry([says("a", "")]);
    expect(() => registry.register(says("b", "", "tool:a"))).toThrow("tools `a` and `b` have the id `tool:a`");
    expect(() => registry.register(says("c", "", " "))).toThrow(/tool id must not be empty/);
    expect(registry.names()).toEqual(["a"]);
  });

  it("shows models what is activated and available, with its contract", () => {
    const registry = new Registry([
      says("a", ""),
      defineTool({ name: "hidden", activation: "internal", execute: () => 1 }),
      defineTool({ name: "off", availability: "off", execute: () => 1 }),
      defineTool({ name: "found", availability: "searchable", execute: () => 1 }),
      defineTool({
        name: "back",
        availability: "off",
        manifest: { availability_override: "callable" },
        execute: () => 1,
      }),
    ]);
    expect(registry.shown().map(({ name }) => name)).toEqual(["a", "back"]);
  });

  it("shows all that a manifest and a contract say", () => {
    const handedOn = {
      category: "post",
      deferrable: "always",
      bindings: { account: { from: "session" } },
      argument_projection: { kind: "preserve_projected_refs_in_field", field: "body" },
      compact_contract: "send(to)",
      examples: [{ to: "ann" }],
    } as const;
    const tool = defineTool({
      name: "send",
      description: "sends a letter",
      title: "Send",
      concurrency: "serial",
      retry: { attempts: 2, firstDelayMs: 10 },
      needsApproval: { expiresInMs: 60_000 },
      idempotent: true,
      durable: true,
      recovery: "owner_bound",
      onDivergence: "release",
      inputSchema: { type: "object", required: ["to"] },
      outputSchema: { type: "string" },
      manifest: { ...handedOn, hints: { open_world: true } },
      execute: () => "sent",
      background: () => "sent",
    });
    expect(new Registry([tool]).shown()).toMatchObject([
      {
        ...handedOn,
        id: "tool:send",
        name: "send",
        description: "sends a letter",
        display_name: "Send",
        scheduling: "serial",
        retry_policy: { type: "safe", max_attempts: 2, base_delay_ms: 10, max_delay_ms: 0 },
        policy: "requires_approval",
        approval_ms: 60_000,
        hints: { open_world: true, idempotent: true, supports_background: true },
        durable: true,
        recovery: "owner_bound",
        divergence: "release",
        input_schema: { type: "object", required: ["to"] },
        output_schema: { type: "string" },
      },
    ]);
  });

  it("publishes every change in open scopes, once for all of a turn", async () => {
    const process = new World().start([says("a", "one")]);
    const session = await process.runtime.session("s");
    const before = session.state.seq;
    process.runtime.registry.register(says("b", "two")).register(says("c", "three"));
    const replies = async (request: string, tool: string) =>
      (await session.request(request, call(tool)))[0]?.output.outcome;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(session.state.seq).toBe(before + 1);
    expect(await replies("r1", "c")).toMatchObject({ payload: "three" });
    process.runtime.registry.unregister("c");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await replies("r2", "c")).toMatchObject({ payload: { code: "tool_unavailable" } });
  });

  it("says nothing when a scope opens with the tools that it has", async () => {
    const world = new World();
    const first = world.start([says("a", "")]);
    await first.runtime.session("s");
    first.kill();
    const session = await world.start([says("a", "")]).runtime.session("s");
    expect((await world.journal.read("session:s", 1)).map(({ line }) => line.match(/"type":"([^"]+)"/)?.[1])).toEqual([
      "scope.opened",
      "catalog.published",
      "scope.opened",
    ]);
    expect(session.state.catalog.byName.has("a")).toBe(true);
  });

  it("lets a call go on whose tool is back", async () => {
    const world = new World();
    const waits = defineTool({
      name: "w",
      durable: true,
      execute: async (_, ctx) => ctx.waitFor("go"),
    });
    const first = world.start([waits]);
    const lost = (await first.runtime.session("s")).request("r", call("w"));
    void lost.catch(() => undefined);
    await world.quiet();
    first.kill();
    const second = world.start([]);
    const session = await second.runtime.session("s");
    const replies = session.request("r", call("w"));
    await world.quiet();
    expect(session.state.calls.rows()).toMatchObject([{ phase: "no_executor" }]);
    second.runtime.registry.register(waits);
    await world.quiet();
    const [wait] = session.state.waits.rows();
    await session.report({ type: "wait.resolved", key: wait?.key ?? "", resolution: { status: "ok", payload: 1 } });
    expect((await replies)[0]?.output.outcome).toEqual({ status: "success", payload: 1 });
  });
});

describe("a provider", () => {
  it("lends its tools as long as it lists them, and as long as it is not withdrawn", async () => {
    const world = new World();
    const { runtime } = world.start([]);
    const shelf = new Shelf(wire("a"));
    const withdraw = runtime.registry.provide(shelf);
    const session = await runtime.session("s");
    const outcome = async (request: string, tool: string) =>
      (await session.request(request, call(tool)))[0]?.output.outcome;
    expect(await outcome("r1", "a")).toMatchObject({ payload: { tool: "a", args: {} } });
    shelf.relist(wire("b"));
    await world.quiet();
    expect(await outcome("r2", "a")).toMatchObject({ payload: { code: "tool_unavailable" } });
    expect(await outcome("r3", "b")).toMatchObject({ payload: { name: "b" } });
    withdraw();
    await world.quiet();
    expect(await outcome("r4", "b")).toMatchObject({ payload: { code: "tool_unavailable" } });
  });

  it("is refused with a list that does not fit, and keeps the one it had", () => {
    const registry = new Registry();
    const shelf = new Shelf(wire("a"));
    registry.provide(shelf);
    expect(() => shelf.relist({ ...wire("b"), id: "" })).toThrow("manifest 0 of a provider does not fit");
    expect(registry.catalog().map(({ name }) => name)).toEqual(["a"]);
  });

  it("checks arguments by its contract, and a call without one is unavailable", async () => {
    const schema = { type: "object", required: ["x"] };
    const shelf = new Shelf(wire("a", { input_schema: schema }), wire("b"));
    shelf.resolveContract = (name) => (name === "a" ? shelf.listed[0] : undefined);
    const process = new World().start([]);
    process.runtime.registry.provide(shelf);
    const session = await process.runtime.session("s");
    const replies = await session.request("r", [
      { label: "1", tool: "a", args: {} },
      { label: "2", tool: "b", args: {} },
    ]);
    expect(replies.map(({ output }) => output.outcome.payload)).toMatchObject([
      { code: "invalid_tool_args" },
      { code: "tool_contract_unavailable" },
    ]);
  });

  it("prepares under the id that it was asked for, may end the call, and may not name another tool", async () => {
    const shelf = new Shelf(wire("a"), wire("b"), wire("c"));
    const provider: ToolProvider = {
      manifests: shelf.manifests,
      resolveContract: shelf.resolveContract,
      execute: ({ context }) => context.payload,
      prepare: ({ call: id, tool, context }) => {
        if (tool === "b") return err("not today");
        const payload = [context.session, id];
        return tool === "c" ? { toolId: "tool:x", payload } : { payload };
      },
    };
    const process = new World().start([]);
    process.runtime.registry.provide(provider);
    const session = await process.runtime.session("s");
    const replies = await session.request(
      "r",
      ["a", "b", "c"].map((tool) => ({ label: `id-${tool}`, tool, args: {} })),
    );
    expect(replies.map(({ output }) => output.outcome.payload)).toMatchObject([
      ["s", "id-a"],
      { code: "tool_error", message: "not today" },
      {
        code: "prepared_tool_id_mismatch",
        message: "Tool provider prepared id `tool:x` for tool `c`, expected `tool:c`",
      },
    ]);
  });

  it("is handed what the model's provider wants back, where it is that", async () => {
    const seen: unknown[] = [];
    const provider: ToolProvider = {
      manifests: () => [wire("a")],
      resolveContract: () => wire("a"),
      execute: () => "done",
      prepare: ({ replay }) => (seen.push(replay), err("seen")),
    };
    const process = new World().start([]);
    process.runtime.registry.provide(provider);
    const session = await process.runtime.session("s");
    const replays = [{ item_id: "i", opaque: [1] }, undefined, { item_id: 7 }];
    const calls = replays.map((replay, i) => ({ label: `${i}`, tool: "a", args: {}, ...(replay && { replay }) }));
    await session.request("r", calls);
    expect(seen).toEqual([{ item_id: "i", opaque: [1] }, null, null]);
  });

  it("resolves a manifest by going through its list, and executes an id that it does not know as an error", async () => {
    const shelf = new Shelf(wire("a"));
    expect(manifestByName(shelf, "a")?.id).toBe("tool:a");
    const process = new World().start([]);
    process.runtime.registry.provide(shelf);
    const session = await process.runtime.session("s");
    const provider: ToolProvider = shelf;
    Object.assign(provider, { resolveManifestById: () => undefined, resolveContractById: () => wire("a") });
    const [reply] = await session.request("r", call("a"));
    expect(reply?.output.outcome.payload).toMatchObject({ message: "Unknown tool id: tool:a" });
  });
});
