/** Scopes go on to a newer protocol: at their opening, once every live instance knows it, and never where that is refused. */
import { type Event, defaultOptions, initial, snapshot } from "@pawl/sansio-core";
import { stableHash } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type Start, type Process, World } from "./world.ts";
import { type Journal, type ToolContext, defineTool } from "../src/index.ts";
import { openState } from "../src/driver.ts";
import { logHash, packageText } from "../src/move/package.ts";

const works = [{ label: "c", tool: "work", args: {} }];

/** Takes a step, waits for a word, and takes another. */
const work = defineTool({
  name: "work",
  durable: true,
  execute: async (_, ctx: ToolContext) => [
    await ctx.run("before", () => "before"),
    await ctx.waitFor("go"),
    await ctx.run("after", () => "after"),
  ],
});

const eventsOf = async (world: World, scope = "session:s"): Promise<readonly Event[]> =>
  (await world.journal.read(scope, 1)).map(({ line }) => (JSON.parse(line) as { readonly event: Event }).event);

/** Every change of protocol in a log, with what opens it. */
const protocolsOf = async (world: World, scope?: string): Promise<readonly string[]> =>
  (await eventsOf(world, scope)).flatMap((event) => {
    if (event.type === "scope.opened") return [`opened under ${event.protocol}`];
    return event.type === "scope.upgraded" ? [`upgraded to ${event.to}`] : [];
  });

const opened = async (world: World, how: Start = {}, id = "s") => {
  const process = world.start([work], how);
  const session = await process.runtime.session(id);
  await world.quiet();
  return { process, session };
};

/** A call that waits under protocol 1, its process killed. */
const waitingUnder1 = async (world: World): Promise<void> => {
  const { process, session } = await opened(world, { upgrade: "never" });
  void session.request("r", works).catch(() => undefined);
  await world.quiet();
  process.kill();
};

/** Says the word, and returns how the call ended. */
const goOn = async (world: World, process: Process): Promise<unknown> => {
  const session = await process.runtime.session("s");
  const replies = session.request("r", works);
  const [wait] = session.state.waits.rows();
  if (wait === undefined) throw new Error("nothing waits");
  await session.report({ type: "wait.resolved", key: wait.key, resolution: { status: "ok", payload: "go" } });
  world.platform.advance(70_000); // A body whose owner was lost again and again is resumed after a pause.
  await world.quiet();
  return (await replies)[0]?.output.outcome.payload;
};

describe("a new scope", () => {
  it("is of the newest protocol, or of 1 where nothing is to be upgraded", async () => {
    const world = new World();
    await opened(world, {}, "new");
    await opened(world, { upgrade: "never" }, "old");
    expect(await protocolsOf(world, "session:new")).toEqual(["opened under 2"]);
    expect(await protocolsOf(world, "session:old")).toEqual(["opened under 1"]);
  });

  it("is of the protocol that every live instance knows", async () => {
    const world = new World();
    await world.journal.join("of the release before", { ttlMs: 1000 });
    await opened(world, {}, "mixed");
    world.platform.advance(1000);
    await opened(world, {}, "after");
    expect(await protocolsOf(world, "session:mixed")).toEqual(["opened under 1"]);
    expect(await protocolsOf(world, "session:after")).toEqual(["opened under 2"]);
  });
});

describe("a scope of an older protocol", () => {
  it("is upgraded before its next opening, and its calls go on", async () => {
    const world = new World();
    await waitingUnder1(world);
    const { process, session } = await opened(world);
    expect(session.state.scope.protocol).toBe(2);
    expect(await protocolsOf(world)).toEqual(["opened under 1", "upgraded to 2", "opened under 2"]);
    expect(await goOn(world, process)).toEqual(["before", "go", "after"]);
    const types = (await eventsOf(world)).map(({ type }) => type);
    expect(types.indexOf("scope.upgraded") + 1).toBe(types.lastIndexOf("scope.opened"));
  });

  it("is upgraded once: later openings find it so, those of a runtime that upgrades nothing too", async () => {
    const world = new World();
    await waitingUnder1(world);
    for (const upgrade of ["auto", "auto", "never"] as const) (await opened(world, { upgrade })).process.kill();
    const again = Array.from({ length: 3 }, () => "opened under 2");
    expect(await protocolsOf(world)).toEqual(["opened under 1", "upgraded to 2", ...again]);
  });

  it("stays as it is while an instance lives that does not know the newer one, or where it is told to", async () => {
    const world = new World();
    await waitingUnder1(world);
    await world.journal.join("of the release before", { ttlMs: 1000 });
    (await opened(world)).process.kill();
    await world.journal.leave("of the release before");
    const { process } = await opened(world, { upgrade: "never" });
    expect(await protocolsOf(world)).toEqual(Array.from({ length: 3 }, () => "opened under 1"));
    expect(await goOn(world, process)).toEqual(["before", "go", "after"]);
  });

  it("goes on after a crash between its upgrade and anything else", async () => {
    for (const when of ["before", "after"] as const) {
      const world = new World();
      await waitingUnder1(world);
      const dying = world.start([work], { death: { append: 1, when } });
      void dying.runtime.session("s").catch(() => undefined);
      await world.quiet();
      expect(dying.isDead).toBe(true);
      const { process } = await opened(world);
      expect(await goOn(world, process)).toEqual(["before", "go", "after"]);
      expect((await protocolsOf(world)).filter((what) => what.startsWith("upgraded"))).toHaveLength(1);
    }
  });

  it("is refused, once it is upgraded, to whoever knows only the older protocol, before anything is claimed", async () => {
    const world = new World();
    await waitingUnder1(world);
    (await opened(world)).process.kill();
    const { epoch } = (await world.journal.scopes("session:s", "", 1))[0] ?? {};
    expect(await world.journal.claim("session:s", "of the release before", 1)).toEqual({
      type: "newer_protocol",
      protocol: 2,
    });
    expect(await world.journal.scopes("session:s", "", 1)).toMatchObject([{ epoch }]);
  });
});

describe("a call that continued under the older protocol", () => {
  it("has the hash of its present arguments in the upgrade, for decisions of a person on them", async () => {
    const world = new World();
    const charge = defineTool<{ readonly month: number; readonly note: string }>({
      name: "charge",
      needsApproval: true,
      durable: true,
      execute: async ({ month, note }, ctx) => {
        if (month === 1) return ctx.continueAs({ month: 2, note });
        return ctx.waitFor("paid");
      },
    });
    const note = "a note that is stored apart from the log ".repeat(20);
    const how = { blobChars: 100 } as const;
    const one = world.start([charge], { ...how, upgrade: "never" });
    const session = await one.runtime.session("s");
    const ids = ["first", "second"];
    void session
      .request(
        "r",
        ids.map((id, i) => ({ label: id, tool: "charge", args: { month: i + 1, note } })),
      )
      .catch(() => undefined);
    await world.quiet();
    for (const { call, hash } of await session.approvals()) await session.approve(call, { hash, by: "ann" });
    await world.quiet();
    one.kill();
    await world.start([charge], how).runtime.session("s");
    await world.quiet();
    const upgraded = (await eventsOf(world)).find(({ type }) => type === "scope.upgraded");
    const args_hash = stableHash({ month: 2, note });
    expect(upgraded).toEqual({ type: "scope.upgraded", to: 2, continued: [{ call: "r:first", args_hash }] });
  });
});

describe("what a body is refused", () => {
  it("says which scope it needs, and how it becomes one", async () => {
    const { requireRule } = await import("../src/error.ts");
    expect(() => requireRule(2, "patches", "`ctx.patched`")).not.toThrow();
    expect(() => requireRule(1, "patches", "`ctx.patched`")).toThrow(
      expect.objectContaining({
        name: "EffectError",
        code: "needs_protocol_2",
        message:
          "`ctx.patched` needs protocol 2, and this scope is of protocol 1: it is upgraded when it is opened next by a " +
          'runtime with `upgrade: "auto"`, once every live instance of its store knows the newer protocol',
      }),
    );
  });
});

describe("a scope of a protocol that is to come", () => {
  it("is refused with the words that say what to install", async () => {
    const world = new World();
    const newer: Partial<Journal> = { claim: async () => ({ type: "newer_protocol", protocol: 3 }) };
    const { runtime } = world.start([work], { faulty: newer });
    await expect(runtime.session("s")).rejects.toMatchObject({
      code: "newer_protocol",
      message:
        "scope session:s is of protocol 3, and this pawl knows protocols up to 2: install the release of pawl that brought " +
        "protocol 3, or a later one, and open it with that. Nothing was claimed or changed",
    });
  });
});

/** A scope of protocol 3, as a newer release would leave it: with its first line, or with what retention left of it. */
const newerLog = (): { readonly line: string; readonly snapshot: string } => {
  const event = { type: "scope.opened", epoch: 1, owner: "d", protocol: 3, options: defaultOptions } as const;
  const line = { seq: 1, epoch: 1, at: 5, event, cmds: "0123456789abcdef" };
  const { scope, ...rest } = snapshot(initial("session:s")) as { readonly scope: object };
  return {
    line: JSON.stringify(line),
    snapshot: JSON.stringify({ ...rest, scope: { ...scope, protocol: 3 }, rows: 3 }),
  };
};

describe("what a newer release has written of a scope", () => {
  const refused = { name: "Refused", code: "newer_protocol" };
  const { line, snapshot: newer } = newerLog();
  const stored = { seq: 1, text: newer, at: 5 };

  it("is refused as such, in a line, a snapshot or what retention left", async () => {
    const { journal } = new World();
    const faults: string[] = [];
    const open = (of: Partial<Journal>, kept?: typeof stored): Promise<unknown> =>
      openState(
        { ...journal, ...of },
        "session:s",
        kept === undefined ? {} : { snapshot: kept },
        (what) => void faults.push(what),
      );
    await expect(open({ read: async () => [{ seq: 1, line }] })).rejects.toMatchObject(refused);
    await expect(open({}, stored)).rejects.toMatchObject(refused);
    const segment = { base: 1, hash: "", snapshot: newer };
    await expect(open({ segment: async () => segment })).rejects.toMatchObject(refused);
    expect(faults).toEqual([]);
  });

  it("is refused as such where it moves in", async () => {
    const { runtime } = new World().start([work]);
    const lines = [{ seq: 1, line }];
    const log_hash = logHash("session:s", { lines, kept: [] });
    const moving = { scope: "session:s", nonce: "n", epoch: 1, state_hash: "", log_hash, lines, kept: [] };
    const text = packageText({ ...moving, finished: [], letters: [], secrets: [], blobs: [], attachments: [] });
    const part = { scope: "session:s", nonce: "n", part: 0, parts: 1, text };
    expect(await runtime.moves.arrivals.send(part)).toMatchObject({ type: "refused", code: "newer_protocol" });
  });
});

describe("an option that nobody knows", () => {
  it("is refused", () => {
    expect(() => new World().start([work], { upgrade: "always" as "auto" })).toThrow(
      '`upgrade`: expected "auto" or "never", found "always"',
    );
  });
});
