/** Scopes of a host that is gone: others claim them many at a time, with their lines, and none twice. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRuntime } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";
import { type PostgresJournal, postgresJournal } from "../src/index.ts";
import { hasServer, type TestServer, testServer } from "./server.ts";

const line = (scope: string, seq: number) => ({ seq, line: `{"scope":"${scope}","seq":${seq}}\n` });
const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(4, "0")}`);

const fill = async (journal: PostgresJournal, name: string, scopes: readonly string[]): Promise<void> => {
  for (const scope of scopes) {
    const claim = await journal.claim(scope, name, 2);
    expect(claim.type).toBe("claimed");
    const more = { finished: [], wakeAt: 0, protocol: 2, messages: [], received: [] };
    const append = {
      scope,
      epoch: 1,
      expectedSeq: 1,
      appendId: "1:1",
      lines: [line(scope, 1), line(scope, 2)],
      ...more,
    };
    expect(await journal.appendAll([append])).toEqual([{ type: "ok" }]);
  }
};

describe.runIf(hasServer)("scopes of a host that is gone", () => {
  let server: TestServer;
  let now = 1_000_000;
  const open: PostgresJournal[] = [];
  beforeAll(async () => {
    server = await testServer(["fsync=off"]);
  });
  afterAll(async () => {
    await Promise.all(open.map((journal) => journal.close()));
    await server.remove();
  });
  const host = async (schema: string, name: string): Promise<PostgresJournal> => {
    const journal = postgresJournal({ url: server.url, schema, now: () => now, lanes: 2, acceptsLoss: true });
    open.push(journal);
    await journal.join(name, { ttlMs: 1000, protocol: 2 });
    return journal;
  };
  it("are claimed by several hosts at once: each by one, with its lines, and appended to", async () => {
    const scopes = names("s", 200);
    await fill(await host("gone", "a"), "a", scopes);
    const others = [await host("gone", "b"), await host("gone", "c")];
    expect(await others[0]?.claimDue?.("b", 2, now, 64)).toEqual([]);
    now += 1000;
    for (const [i, journal] of others.entries()) await journal.join("bc"[i] ?? "", { ttlMs: 60_000, protocol: 2 });
    const taken = await Promise.all(
      others.map(async (journal, i) => {
        const claims = [];
        for (let more = 1; more > 0;) {
          const found = (await journal.claimDue?.("bc"[i] ?? "", 2, now, 16)) ?? [];
          claims.push(...found);
          more = found.length;
        }
        return claims;
      }),
    );
    const all = taken.flat();
    expect(all.map(({ scope }) => scope).toSorted()).toEqual(scopes);
    for (const { scope, claim } of all) {
      expect(claim).toMatchObject({ type: "claimed", epoch: 2, seq: 2, lastOwner: "lost" });
      expect(claim.brought?.lines).toEqual([line(scope, 1), line(scope, 2)]);
    }
    const [first] = taken[0] ?? [];
    const scope = first?.scope ?? "";
    const more = { finished: [], wakeAt: undefined, protocol: 2, messages: [], received: [] };
    const next = { scope, epoch: 2, expectedSeq: 3, appendId: "2:3", lines: [line(scope, 3)], ...more };
    expect(await others[0]?.appendAll([next])).toEqual([{ type: "ok" }]);
    expect(await others[1]?.claim(scope, "c", 2)).toMatchObject({ type: "owned_by", instance: "b" });
  });

  it("are left alone while they are not due, of a newer protocol, or the claimer's own", async () => {
    const one = await host("left", "one");
    await fill(one, "one", ["due", "later", "newer"]);
    const more = { finished: [], messages: [], received: [] };
    const append = (scope: string, wakeAt: number | undefined, protocol: number) =>
      one.appendAll([
        { scope, epoch: 1, expectedSeq: 3, appendId: "1:3", lines: [line(scope, 3)], wakeAt, protocol, ...more },
      ]);
    await append("later", now + 5000, 2);
    await append("newer", 0, 3);
    await one.due(now); // Wake times that are later are stored with it.
    expect(await one.claimDue?.("one", 2, now, 10)).toEqual([]);
    await one.leave("one");
    const two = await host("left", "two");
    expect((await two.claimDue?.("two", 2, now, 10))?.map(({ scope }) => scope)).toEqual(["due"]);
  });

  it("are opened and gone on with by the hosts that are left", async () => {
    const postgres = { url: server.url, schema: "opened", acceptsLoss: true };
    const [begun, done] = [new Set<unknown>(), new Set<unknown>()];
    const work = (isLast: boolean) =>
      defineTool({
        name: "work",
        durable: true,
        execute: async (id, ctx) => {
          begun.add(id);
          if (!isLast) await new Promise<never>(() => undefined);
          await ctx.run("work", () => done.add(id));
          return "done";
        },
      });
    const start = (isLast: boolean) =>
      openRuntime({ postgres, tools: [work(isLast)], lease: { ttlMs: 600_000 }, log: () => undefined });
    const [a, b] = [start(false), start(true)];
    const scopes = names("o", 70);
    for (const id of scopes)
      void (await a.runtime.session(id)).request("r", [{ label: "c", tool: "work", args: id }]).catch(() => undefined); // Its host closes.
    const opened = await Promise.all(scopes.map((id) => a.runtime.session(id)));
    await expect.poll(() => begun.size, { timeout: 60_000 }).toBe(scopes.length);
    await Promise.all(opened.map((session) => session.runner.whenDurable()));
    await a.close();
    await b.runtime.recover();
    await expect.poll(() => done.size, { timeout: 60_000 }).toBe(scopes.length);
    const session = await b.runtime.session(scopes.at(-1) ?? "");
    expect((await session.replies("r"))[0]?.output.outcome).toMatchObject({ status: "success", payload: "done" });
    await b.close();
  }, 120_000);
});
