/** Logs of sessions are shortened behind their snapshots, and what goes on goes on. */
import { describe, expect, it } from "vitest";
import { defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const page = "x".repeat(1000);
const retention = { olderThanMs: 60_000 };

/** A body of many steps, which waits in the middle, and knows in the end what each step gave. */
const writes = defineTool({
  name: "writes",
  durable: true,
  execute: async (_, ctx) => {
    const lengths: number[] = [];
    for (let n = 0; n < 20; n++) lengths.push((await ctx.run(`step-${n}`, () => page + n, { input: { n } })).length);
    const heard = await ctx.waitFor("go");
    return [lengths, heard];
  },
});
const echo = defineTool({ name: "echo", execute: (args) => args as never });

const lengths = Array.from({ length: 20 }, (_, n) => 1000 + String(n).length);

const quiet = async (world: World, ms: number): Promise<void> => {
  for (let left = ms; left > 0; left -= 20) {
    await world.quiet(8);
    world.platform.advance(20);
  }
};

const keyOf = (session: {
  readonly state: { readonly waits: { readonly rows: () => readonly { readonly key: string }[] } };
}) => session.state.waits.rows()[0]?.key ?? "";

/** A session with a body that waits, an old request, and enough requests since that its log was shortened. */
const shortened = async (olderThanMs = retention.olderThanMs) => {
  const world = new World();
  const start = () => world.start([writes, echo], { retention: { olderThanMs }, snapshotAfter: 2000 });
  const one = start();
  const session = await one.runtime.session("s");
  const first = await session.request("old", [{ label: "c", tool: "echo", args: "old" }]);
  void session.request("r", [{ label: "c", tool: "writes", args: {} }]).catch(() => undefined);
  await quiet(world, 1000);
  world.platform.advance(100_000);
  for (let n = 0; n < 12; n++) {
    await session.request(`n${n}`, [{ label: "c", tool: "echo", args: page }]);
    await quiet(world, 60);
  }
  return { world, start, one, first };
};

describe("retention", () => {
  it("deletes what lies behind an old snapshot, and keeps the lines that live bodies refer to", async () => {
    const { world, start, one } = await shortened();
    const segment = await world.journal.segment("session:s");
    const seqs = (await world.journal.read("session:s", 1)).map(({ seq }) => seq);
    const { base = 0 } = segment ?? {};
    expect(base).toBeGreaterThan(20);
    const kept = seqs.filter((seq) => seq <= base);
    expect(kept.length).toBeGreaterThan(10);
    expect(kept.length).toBeLessThan(base - 4);
    one.kill();
    const session = await start().runtime.session("s");
    await quiet(world, 3000);
    await session.resolveById(keyOf(session), { status: "ok", payload: "go" }, "ann");
    const [reply] = await session.replies("r");
    expect(reply?.output.outcome).toMatchObject({ status: "success", payload: [lengths, "go"] });
    expect((await world.journal.verify("session:s"))?.type).toBe("whole");
  });

  it("lists requests as far back as the log reaches, and those that run", async () => {
    const { one } = await shortened();
    const session = await one.runtime.session("s");
    const listed = await session.requests();
    expect(listed[0]).toMatchObject({ request: "r", state: "waiting", waitsFor: "outside" });
    expect(listed.map(({ request }) => request)).not.toContain("old");
    expect(listed.at(-1)).toMatchObject({ request: "n11", state: "done" });
    await expect(session.status("old")).rejects.toMatchObject({ code: "gone" });
  });

  it("answers a request from the log as long as that reaches back, and says `gone` of older ones", async () => {
    const { world, start, one } = await shortened();
    one.kill();
    const session = await start().runtime.session("s");
    const echoed = (request: string, args: string) => session.request(request, [{ label: "c", tool: "echo", args }]);
    await expect(echoed("old", "old")).rejects.toMatchObject({ code: "gone" });
    expect((await echoed("n11", page))[0]?.output.outcome).toMatchObject({ payload: page });
    await expect(echoed("n11", "other")).rejects.toMatchObject({ code: "request_conflict" });
    await quiet(world, 100);
  });

  it("is a gap to who observes from before, and what stands after it is told", async () => {
    const { start, one, world } = await shortened();
    one.kill();
    const session = await start().runtime.session("s");
    const { base = 0 } = (await world.journal.segment("session:s")) ?? {};
    const seen = session.observe({ from: { scope: "session:s", seq: 1, index: 0 } });
    const first = (await seen.next()).value;
    expect(first).toMatchObject({ type: "gap", from: { seq: 1 }, to: { seq: base } });
    const second = (await seen.next()).value;
    expect(second).toMatchObject({ type: "observed" });
    await seen.return();
    const over = new AbortController();
    const followed = session.follow(1, over.signal).next();
    await expect(followed).rejects.toMatchObject({ code: "gone" });
    const next = await session.follow(base, over.signal).next();
    expect(next.value).toMatchObject({ seq: base + 1 });
    over.abort();
  });

  it("shortens the log of a session that is never quiet, whose snapshots are all young", async () => {
    const world = new World();
    const faults: string[] = [];
    const host = { fault: (what: string) => void faults.push(what) };
    const start = () => world.start([echo], { retention, snapshotAfter: 2000, host });
    const one = start();
    const session = await one.runtime.session("s");
    const ages: number[] = [];
    const gaps = new Set<boolean>();
    for (let n = 0; n < 80; n++) {
      await session.request(`n${n}`, [{ label: "c", tool: "echo", args: page }]);
      await quiet(world, 60);
      const { base = 0 } = (await world.journal.segment("session:s")) ?? {};
      const lines = await world.journal.read("session:s", base + 1);
      ages.push(world.platform.now() - (JSON.parse(lines[0]?.line ?? "") as { readonly at: number }).at);
      gaps.add(lines.every(({ seq }, at) => seq === base + 1 + at));
      world.platform.advance(5000);
    }
    const { olderThanMs } = retention;
    expect(Math.max(...ages)).toBeLessThan(2 * olderThanMs + 15_000);
    expect(Math.min(...ages.slice(40))).toBeGreaterThan(olderThanMs - 10_000);
    expect(ages.filter((age, n) => age < (ages[n - 1] ?? 0)).length).toBeGreaterThan(2);
    expect(gaps).toEqual(new Set([true]));
    one.kill();
    const after = await start().runtime.session("s");
    const again = (n: number) => after.request(`n${n}`, [{ label: "c", tool: "echo", args: page }]);
    expect((await again(70))[0]?.output.outcome).toMatchObject({ payload: page });
    await expect(again(3)).rejects.toMatchObject({ code: "gone" });
    expect((await world.journal.verify("session:s"))?.type).toBe("whole");
    expect(faults).toEqual([]);
  });

  it("keeps the lines that live bodies refer to where the snapshots are all young, too", async () => {
    const world = new World();
    const faults: string[] = [];
    const host = { fault: (what: string) => void faults.push(what) };
    const start = () => world.start([writes, echo], { retention, snapshotAfter: 2000, host });
    const one = start();
    const session = await one.runtime.session("s");
    void session.request("r", [{ label: "c", tool: "writes", args: {} }]).catch(() => undefined);
    await quiet(world, 1000);
    const steps = session.state.seq;
    for (let n = 0; n < 60; n++) {
      await session.request(`n${n}`, [{ label: "c", tool: "echo", args: page }]);
      await quiet(world, 60);
      world.platform.advance(5000);
    }
    const { base = 0 } = (await world.journal.segment("session:s")) ?? {};
    expect(base).toBeGreaterThan(steps + 10);
    const kept = (await world.journal.read("session:s", 1, base)).map(({ seq }) => seq);
    expect(kept.length).toBeGreaterThanOrEqual(20);
    expect(Math.max(...kept)).toBeLessThanOrEqual(steps);
    one.kill();
    const after = await start().runtime.session("s");
    await quiet(world, 3000);
    await after.resolveById(keyOf(after), { status: "ok", payload: "go" }, "ann");
    const [reply] = await after.replies("r");
    expect(reply?.output.outcome).toMatchObject({ status: "success", payload: [lengths, "go"] });
    expect((await world.journal.verify("session:s"))?.type).toBe("whole");
    expect(faults).toEqual([]);
  });

  it("shortens a log that was kept whole until now piece by piece, each to the end of an append", async () => {
    const world = new World();
    const many = Array.from({ length: 230 }, (_, c) => ({ label: `c${c}`, tool: "echo", args: c }));
    const before = world.start([echo]);
    const whole = await before.runtime.session("s");
    for (let n = 0; n < 5; n++) {
      await whole.request(`m${n}`, many);
      world.platform.advance(10);
    }
    before.kill();
    world.platform.advance(10 * retention.olderThanMs);
    const { runtime } = world.start([echo], { retention, snapshotAfter: 2000 });
    const session = await runtime.session("s");
    const bases: number[] = [];
    for (let n = 0; n < 16; n++) {
      await session.request(`n${n}`, [{ label: "c", tool: "echo", args: page.repeat(20) }]);
      await quiet(world, 60);
      bases.push((await world.journal.segment("session:s"))?.base ?? 0);
      world.platform.advance(1000);
    }
    const steps = bases.map((base, n) => base - (bases[n - 1] ?? 0)).filter((step) => step > 0);
    expect(steps.length).toBeGreaterThan(1);
    expect(Math.max(...steps)).toBeLessThan(1024);
    const { base = 0 } = (await world.journal.segment("session:s")) ?? {};
    expect(base).toBeGreaterThan(1000);
    expect((await world.journal.verify("session:s"))?.type).toBe("whole");
  });

  it("says `gone` to who follows from before more than is read at once, and nothing is held up by it", async () => {
    const world = new World();
    const { runtime } = world.start([echo], { retention: { olderThanMs: 0 }, snapshotAfter: 2000 });
    const session = await runtime.session("s");
    for (let n = 0; n < 5; n++) {
      await session.request(
        `n${n}`,
        Array.from({ length: 150 }, (_, c) => ({ label: `c${c}`, tool: "echo", args: c })),
      );
      await quiet(world, 60);
    }
    const { base = 0 } = (await world.journal.segment("session:s")) ?? {};
    expect(base).toBeGreaterThan(600);
    expect((await world.journal.read("session:s", 1, 500)).length).toBe(0);
    const followed = session.follow(0, new AbortController().signal).next();
    await expect(followed).rejects.toMatchObject({
      code: "gone",
      message: `the log of session:s has no event 1 any more, it is whole from event ${base + 1} on`,
    });
  });

  it("waits until a snapshot is old enough", async () => {
    const young = await shortened(1_000_000_000);
    expect(await young.world.journal.segment("session:s")).toBeUndefined();
  });
});
