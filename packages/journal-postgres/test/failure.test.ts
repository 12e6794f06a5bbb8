/** Tests what breaks between a host and its database, and what must hold all the same. */
import type { Append, AppendResult } from "@pawl/runtime/driver";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresJournal, postgresJournal } from "../src/index.ts";
import { serverDatabase } from "../src/server.ts";
import { type Proxy, proxyTo } from "./proxy.ts";
import { type TestServer, hasServer, testServer } from "./server.ts";

const oneLine = (scope: string, epoch: number, seq: number, more: Partial<Append> = {}): Append => ({
  scope,
  epoch,
  expectedSeq: seq,
  appendId: `${epoch}:${seq}`,
  lines: [{ seq, line: `{"seq":${seq}}\n` }],
  finished: [],
  wakeAt: 0,
  protocol: 2,
  messages: [],
  received: [],
  ...more,
});

const ok: AppendResult = { type: "ok" };
const typesOf = (results: readonly AppendResult[]): readonly string[] => results.map(({ type }) => type);

const claimAll = async (journal: PostgresJournal, scopes: readonly string[], instance = "a"): Promise<void> => {
  for (const scope of scopes) await journal.claim(scope, instance, 2);
};

describe.runIf(hasServer)("a journal on PostgreSQL", () => {
  let server: TestServer;
  let schemas = 0;
  const opened: PostgresJournal[] = [];
  const proxies: Proxy[] = [];
  beforeAll(async () => {
    server = await testServer();
  });
  afterAll(async () => {
    await Promise.all(opened.map((journal) => journal.close()));
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await server.remove();
  });

  const journalIn = (schema: string, more: { readonly url?: string; readonly patienceMs?: number } = {}) => {
    const journal = postgresJournal({ url: server.url, schema, ...more });
    opened.push(journal);
    return journal;
  };
  const newSchema = (): string => `failure_${(schemas += 1)}`;
  const proxied = async (): Promise<Proxy> => {
    const proxy = await proxyTo(server.port);
    proxies.push(proxy);
    return proxy;
  };
  const sql = (text: string) => server.sql(text);
  it("compiles no statement for a scan without an index, which took longer than opening a session", async () => {
    const [schema, database] = [newSchema(), serverDatabase({ url: server.url })];
    await journalIn(schema).connect();
    const text = `EXPLAIN (ANALYZE, FORMAT JSON) SELECT kid FROM ${schema}.root ORDER BY at`;
    const [plan] = await database.query({ name: "plan", text }, []);
    await database.close();
    const written = JSON.stringify(plan);
    expect(written).toContain("Seq Scan");
    expect(written).not.toContain("JIT");
  });

  it("asks again for answers that were lost: nothing is lost, doubled or failed", async () => {
    const [proxy, schema] = [await proxied(), newSchema()];
    const journal = journalIn(schema, { url: `postgres://pawl@127.0.0.1:${proxy.port}/postgres` });
    const scopes = ["s", "t", "u", "v"];
    await claimAll(journal, scopes);
    for (let seq = 1; seq <= 60; seq++) {
      if (seq % 3 === 0) proxy.loseAnswers(1);
      const isSingle = seq % 2 === 0;
      for (const part of isSingle ? scopes.map((scope) => [scope]) : [scopes])
        expect(await journal.appendAll(part.map((scope) => oneLine(scope, 1, seq)))).toEqual(part.map(() => ok));
    }
    expect(proxy.lost()).toBeGreaterThanOrEqual(15);
    for (const scope of scopes) {
      expect((await journal.read(scope, 1)).map(({ seq }) => seq)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
      expect(await journal.verify(scope)).toMatchObject({ type: "whole", seq: 60 });
    }
  });

  it("waits for a server that crashes and recovers, and loses no acknowledged append", async () => {
    const journal = journalIn(newSchema(), { patienceMs: 20_000 });
    await claimAll(journal, ["s"]);
    let acknowledged = 0;
    const append = async (): Promise<void> => {
      for (let seq = 1; seq <= 300; seq++) {
        expect(await journal.appendAll([oneLine("s", 1, seq)])).toEqual([ok]);
        acknowledged = seq;
      }
    };
    const crash = async (): Promise<void> => {
      for (let times = 0; times < 2; times++) {
        const from = acknowledged;
        while (acknowledged < Math.min(from + 60, 299)) await new Promise((resolve) => setTimeout(resolve, 5));
        await server.stop("immediate");
        await server.start();
      }
    };
    await Promise.all([append(), crash()]);
    expect((await journal.read("s", 1)).map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
  });

  it("tells within its patience that the server cannot be reached", async () => {
    const proxy = await proxied();
    const url = `postgres://pawl@127.0.0.1:${proxy.port}/postgres`;
    const journal = postgresJournal({ url, schema: newSchema(), patienceMs: 500, deadlineMs: 700 });
    opened.push(journal);
    await claimAll(journal, ["s"]);
    proxy.hole(true);
    const begun = performance.now();
    expect(typesOf(await journal.appendAll([oneLine("s", 1, 1)]))).toEqual(["failed"]);
    await expect(journal.renew("a")).rejects.toMatchObject({ name: "PostgresError", code: "unavailable" });
    expect(performance.now() - begun).toBeLessThan(6000);
    proxy.hole(false);
    expect(typesOf(await journal.appendAll([oneLine("s", 1, 1)]))).toEqual(["ok"]);
  });

  it("fails a line that the database does not take, and no other of its group", async () => {
    const journal = journalIn(newSchema());
    await claimAll(journal, ["a", "b", "c"]);
    const poison = oneLine("b", 1, 1, { lines: [{ seq: 1, line: "\u0000\n" }] });
    const results = await journal.appendAll([oneLine("a", 1, 1), poison, oneLine("c", 1, 1)]);
    expect(typesOf(results)).toEqual(["ok", "failed", "ok"]);
    expect(await journal.appendAll([oneLine("b", 1, 1)])).toEqual([ok]);
  });

  it("lets a row that somebody holds cost its own scope alone", async () => {
    const schema = newSchema();
    const journal = journalIn(schema, { patienceMs: 1000 });
    await claimAll(journal, ["a", "b", "c"]);
    const holder = new Client({ connectionString: server.url });
    await holder.connect();
    await holder.query(`BEGIN; SELECT 1 FROM ${schema}.scope WHERE name = 'b' FOR UPDATE`);
    const results = await journal.appendAll(["a", "b", "c"].map((scope) => oneLine(scope, 1, 1)));
    expect(typesOf(results)).toEqual(["ok", "failed", "ok"]);
    await holder.query("ROLLBACK");
    await holder.end();
    expect(await journal.appendAll([oneLine("b", 1, 1)])).toEqual([ok]);
  });

  it("fences an owner whose claim a failover forgot, though the next claim has its epoch", async () => {
    const schema = newSchema();
    const [first, second] = [journalIn(schema), journalIn(schema)];
    await claimAll(first, ["s"], "a");
    const lost = oneLine("s", 1, 1);
    expect(await first.appendAll([lost])).toEqual([ok]);
    await sql(`UPDATE ${schema}.scope SET epoch = 0, seq = 0, token = NULL, owner = 0; DELETE FROM ${schema}.append`);
    expect(await second.claim("s", "b", 2)).toMatchObject({ type: "claimed", epoch: 1, seq: 0 });
    expect(await second.appendAll([oneLine("s", 1, 1, { lines: [{ seq: 1, line: "of b\n" }] })])).toEqual([ok]);
    expect(typesOf(await first.appendAll([lost]))).toEqual(["fenced"]);
    expect(typesOf(await first.appendAll([oneLine("s", 1, 2)]))).toEqual(["fenced"]);
    expect(await first.read("s", 1)).toEqual([{ seq: 1, line: "of b\n" }]);
  });

  it("reports each acknowledged request that a failover lost, when an append is refused or its connection broke", async () => {
    const schema = newSchema();
    const journal = journalIn(schema);
    await journal.join("a", { ttlMs: 60_000, protocol: 2 });
    await claimAll(journal, ["s", "t"], "a");
    const submit = (scope: string, seq: number, request: string) =>
      oneLine(scope, 1, seq, {
        lines: [
          {
            seq,
            line: `{"seq":${seq},"at":1,"event":{"type":"request.submitted","request":${JSON.stringify(request)}}}\n`,
          },
        ],
      });
    expect(await journal.appendAll([submit("s", 1, "kept"), submit("t", 1, 't "1"')])).toEqual([ok, ok]);
    expect(await journal.appendAll([submit("s", 2, "gone")])).toEqual([ok]);
    const answered = oneLine("s", 1, 3, { finished: [{ kind: "request", id: "kept", seq: 3 }] });
    expect(await journal.appendAll([answered])).toEqual([ok]);
    await sql(`DELETE FROM ${schema}.append WHERE last > 1; UPDATE ${schema}.scope SET seq = 1 WHERE name = 's'`);
    expect(typesOf(await journal.appendAll([submit("s", 4, "next")]))).toEqual(["conflict"]);
    const names = async () =>
      (await journal.lostRequests()).map((lost) => `${lost.scope} ${lost.request} ${lost.what}`);
    await expect.poll(names, { timeout: 20_000 }).toEqual(["s gone submitted", "s kept answered"]);
    const stop = journal.listen?.("a", { mail: () => undefined, look: () => undefined });
    await journal.join("a", { ttlMs: 60_000, protocol: 2 });
    await sql(`DELETE FROM ${schema}.append WHERE scope = (SELECT id FROM ${schema}.scope WHERE name = 't')`);
    const cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";
    await expect
      .poll(async () => (await sql(cut), names()), { timeout: 30_000, interval: 500 })
      .toContain('t t "1" submitted');
    stop?.();
    expect((await names()).length).toBe(3);
  });

  it("carries crossing letters between many scopes of two hosts, without one that is lost", async () => {
    const schema = newSchema();
    const journals = [journalIn(schema), journalIn(schema)];
    const names = ["a", "b", "c", "d"];
    for (const [i, journal] of journals.entries())
      await claimAll(
        journal,
        names.map((name) => `${i}${name}`),
        `host${i}`,
      );
    const rounds = 50;
    const send = async (i: number): Promise<void> => {
      for (let seq = 1; seq <= rounds; seq++) {
        const group = names.map((name, n) => {
          const to = `${1 - i}${names[(n + seq) % names.length]}`;
          return oneLine(`${i}${name}`, 1, seq, {
            messages: [{ to, kind: "message", link: 1, number: seq, text: `${i}${name} ${seq}` }],
          });
        });
        expect(typesOf((await journals[i]?.appendAll(group)) ?? [])).toEqual(names.map(() => "ok"));
      }
    };
    await Promise.all([send(0), send(1)]);
    let letters = 0;
    for (const i of [0, 1])
      for (const name of names) letters += (await (journals[0] as PostgresJournal).inbox(`${i}${name}`)).length;
    expect(letters).toBe(2 * names.length * rounds);
    const [deadlocks] = await sql("SELECT sum(deadlocks)::int AS n FROM pg_stat_database");
    expect(deadlocks).toEqual({ n: 0 });
  });

  it("rewrites the row of a scope in place", async () => {
    const schema = newSchema();
    const journal = journalIn(schema);
    await claimAll(journal, ["s"]);
    for (let seq = 1; seq <= 400; seq++) {
      const wakeAt = seq % 10 === 0 ? undefined : 0;
      expect(await journal.appendAll([oneLine("s", 1, seq, { wakeAt })])).toEqual([ok]);
    }
    await journal.due(0);
    const counts = async (): Promise<readonly number[]> => {
      const [row] = await sql(
        `SELECT n_tup_upd::int AS all, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE schemaname = '${schema}' AND relname = 'scope'`,
      );
      return [Number(row?.["all"]), Number(row?.["hot"])];
    };
    let [all = 0, hot = 0] = await counts();
    for (let tries = 0; all < 400 && tries < 100; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 200)); // The server tells its counts now and then.
      [all = 0, hot = 0] = await counts();
    }
    expect(all).toBeGreaterThanOrEqual(400);
    expect(hot / all).toBeGreaterThanOrEqual(0.99);
  });

  it("refuses a server that acknowledges what its crash would lose", async () => {
    await sql("ALTER SYSTEM SET synchronous_commit = off");
    await sql("SELECT pg_reload_conf()");
    try {
      await expect(journalIn(newSchema()).claim("s", "a", 2)).rejects.toMatchObject({
        code: "not_durable",
        message: expect.stringContaining("synchronous_commit = off"),
      });
    } finally {
      await sql("ALTER SYSTEM RESET synchronous_commit");
      await sql("SELECT pg_reload_conf()");
    }
  });

  it("says what to do where the tables are missing or newer, and makes them once for many hosts at a time", async () => {
    const schema = newSchema();
    const runs = postgresJournal({ url: server.url, schema, migrates: false });
    opened.push(runs);
    await expect(runs.claim("s", "a", 2)).rejects.toMatchObject({
      code: "not_migrated",
      message: expect.stringContaining("pawl migrate postgres://…"),
    });
    const hosts = Array.from({ length: 4 }, () => journalIn(schema));
    await Promise.all(hosts.map((host, i) => host.claim(`s${i}`, `host${i}`, 2)));
    expect(await runs.claim("s", "a", 2)).toMatchObject({ type: "claimed", epoch: 1 });
    await sql(`INSERT INTO ${schema}.version (version) VALUES (99)`);
    await expect(journalIn(schema).claim("s", "b", 2)).rejects.toMatchObject({ code: "newer_schema" });
  });
});
