/** Tests what people are asked: found by whoever comes later, in another process, with nothing but the store. */
import { stableHash } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type Journal, defineTool, importLog, logText, memoryJournal } from "../src/index.ts";
import { Hosts } from "./move-world.ts";
import { World } from "./world.ts";

const pay = defineTool<{ readonly amount: number; readonly note?: string }>({
  name: "pay",
  needsApproval: true,
  execute: ({ amount }) => amount,
});
const payment = (amount: number, id = "c") => ({ label: id, tool: "pay", args: { amount } });
const hashOf = (amount: number): string => stableHash({ amount });

/** Sessions that wait for a person, left behind by a process that was killed. */
const abandoned = async (world: World, ids: readonly string[]): Promise<void> => {
  const process = world.start([pay]);
  for (const id of ids) {
    const session = await process.runtime.session(id);
    void session.request("r", [payment(1), payment(2, "d")]).catch(() => undefined);
  }
  await world.quiet();
  process.kill();
};

describe("approvals that are wanted", () => {
  it("are found in the store by the next process, before it has opened any session", async () => {
    const world = new World();
    const askedAt = world.platform.now();
    await abandoned(world, ["a", "b", "c"]);
    world.platform.advance(60_000);
    const { runtime } = world.start([pay]);
    const wanted = await runtime.awaitingApproval();
    expect(wanted).toEqual(["a", "b", "c"].map((id) => ({ scope: `session:${id}`, approvals: 2 })));
    expect(await runtime.awaitingApproval({ after: "session:a", limit: 1 })).toEqual([wanted[1]]);
    expect(await runtime.awaitingApproval({ prefix: "session:c" })).toEqual([wanted[2]]);
    expect(runtime.inMemory).toBe(0);
    expect(await (await runtime.session("b")).approvals()).toEqual([
      { call: "r:c", tool: "pay", label: "c", args: { amount: 1 }, hash: hashOf(1), askedAt },
      { call: "r:d", tool: "pay", label: "d", args: { amount: 2 }, hash: hashOf(2), askedAt },
    ]);
  });

  it("are wanted no more once they are given, refused or cancelled", async () => {
    const world = new World();
    await abandoned(world, ["a", "b"]);
    const { runtime } = world.start([pay]);
    const [a, b] = [await runtime.session("a"), await runtime.session("b")];
    const replies = a.request("r", [payment(1), payment(2, "d")]);
    await a.approve("r:c", { hash: hashOf(1), by: "ann" });
    expect(await runtime.awaitingApproval()).toMatchObject([{ approvals: 1 }, { approvals: 2 }]);
    await a.reject("r:d", { hash: hashOf(2), reason: "no", by: "ann" });
    await replies;
    await b.cancel({ request: "r" }, "ann");
    expect(await runtime.awaitingApproval()).toEqual([]);
    expect(await a.approvals()).toEqual([]);
  });

  it("are told to the store again when a session is opened, which an older driver may have written, and once", async () => {
    const world = new World();
    await abandoned(world, ["a"]);
    const told: unknown[] = [];
    const next = world.start([pay], {
      faulty: {
        appendAll: async (appends) => {
          told.push(...appends.map(({ approvals }) => approvals));
          return world.journal.appendAll(appends);
        },
      },
    });
    await (await next.runtime.session("a")).approvals();
    expect(told[0]).toBe(2);
    expect(told.slice(1).every((approvals) => approvals === undefined)).toBe(true);
  });

  it("are wanted no more where a driver that tells its store nothing of them has taken the decision", async () => {
    const world = new World();
    await abandoned(world, ["a"]);
    const appendAll: Journal["appendAll"] = (appends) =>
      world.journal.appendAll(appends.map((append) => ({ ...append, approvals: undefined })));
    const older = world.start([pay], { faulty: { appendAll } });
    await (await older.runtime.session("a")).cancel({ request: "r" }, "ann");
    older.kill();
    const { runtime } = world.start([pay]);
    await (await runtime.session("a")).approvals();
    expect(await runtime.awaitingApproval()).toEqual([]);
  });

  it("are shown with their values, however large these are, and with the time that they have", async () => {
    const world = new World();
    const hurried = defineTool<{ readonly note: string }>({
      name: "hurried",
      needsApproval: { expiresInMs: 5000 },
      execute: () => "done",
    });
    const { runtime } = world.start([hurried], { blobChars: 100 });
    const session = await runtime.session("s");
    const args = { note: "x".repeat(1000) };
    void session.request("r", [{ label: "c", tool: "hurried", args }]).catch(() => undefined);
    await world.quiet();
    const [approval] = await session.approvals();
    expect(approval).toMatchObject({ args, hash: stableHash(args), expiresAt: world.platform.now() + 5000 });
  });

  it("are listed in a few reads, however many they are and whenever they were asked", async () => {
    const world = new World();
    let reads = 0;
    const read: Journal["read"] = (...of) => {
      reads += 1;
      return world.journal.read(...of);
    };
    const { runtime } = world.start([pay], { faulty: { read } });
    const session = await runtime.session("s");
    for (let i = 0; i < 1000; i += 1) void session.request(`r${i}`, [payment(i)]).catch(() => undefined);
    await world.quiet();
    reads = 0;
    const approvals = await session.approvals();
    expect(approvals.map(({ call }) => call)).toEqual(Array.from({ length: 1000 }, (_, i) => `r${i}:c`));
    expect(approvals.every(({ askedAt }) => askedAt !== undefined)).toBe(true);
    expect(reads).toBeLessThan(10);
  });

  it("go with a session that moves, and with a log that is taken in", async () => {
    const hosts = new Hosts([pay]);
    const session = await hosts.a.runtime.session("s");
    void session.request("r", [payment(1)]).catch(() => undefined);
    await expect.poll(() => hosts.a.runtime.awaitingApproval()).toHaveLength(1);
    await hosts.a.runtime.move("session:s", "b");
    expect(await hosts.a.runtime.awaitingApproval()).toEqual([]);
    expect(await hosts.b.runtime.awaitingApproval()).toEqual([{ scope: "session:s", approvals: 1 }]);

    const world = new World();
    await abandoned(world, ["a"]);
    const text = (await logText(world.journal, "session:a")) ?? [];
    const journal = memoryJournal();
    await importLog(journal, "importer", text);
    expect(await journal.awaitingApproval("", "", 9)).toMatchObject([{ scope: "session:a", approvals: 2 }]);
  });
});
