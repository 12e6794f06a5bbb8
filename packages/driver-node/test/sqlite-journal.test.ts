import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Worker } from "node:worker_threads";
import { journalChecks, limitChecks, moveChecks } from "@pawl/testkit";
import { afterAll, describe, expect, it } from "vitest";
import { type SqliteJournal, sqliteJournal } from "../src/index.ts";
import { fileRig, oneLine, testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

/** The protocol that every live instance knows, where it is not 2. */
const known = async (journal: SqliteJournal): Promise<number | undefined> => {
  const claim = await journal.claim("session:b", "new", 2);
  return claim.type === "claimed" ? claim.known : NaN;
};

describe.each(["inline", "thread"] as const)("a journal on SQLite that commits %s", (commits) => {
  for (const [i, { name, run }] of [...journalChecks, ...moveChecks, ...limitChecks].entries()) {
    it(name, async () => {
      const rig = fileRig(file(`suite-${commits}-${i}.db`), { commits });
      await run(rig);
      await rig.close();
    });
  }

  it("keeps acknowledged appends after it is closed", async () => {
    const path = file(`reopened-${commits}.db`);
    const before = sqliteJournal(path, { commits });
    expect(before.commits).toBe(commits);
    await before.claim("s", "a", 1);
    await before.appendAll([oneLine("s", 1, 1)]);
    await before.close();
    const after = sqliteJournal(path, { commits });
    expect(await after.read("s", 1)).toEqual([{ seq: 1, line: "1\n" }]);
    expect(await after.claim("s", "b", 1)).toEqual({ type: "claimed", lastOwner: "lost", epoch: 2, seq: 1 });
    await after.close();
  });

  it("reports that it was closed", async () => {
    const journal = sqliteJournal(file(`closed-${commits}.db`), { commits });
    await journal.claim("s", "a", 1);
    await journal.close();
    await journal.close();
    await expect(journal.claim("s", "a", 1)).rejects.toMatchObject({ name: "JournalFileError", code: "closed" });
    expect(await journal.appendAll([oneLine("s", 1, 1)])).toMatchObject([{ type: "failed" }]);
  });

  it("answers requests from before it was closed", async () => {
    const journal = sqliteJournal(file(`closing-${commits}.db`), { commits });
    await journal.claim("s", "a", 1);
    const [results] = await Promise.all([journal.appendAll([oneLine("s", 1, 1)]), journal.close()]);
    expect(results).toEqual([{ type: "ok" }]);
  });

  it("resolves a second close with the first", async () => {
    const journal = sqliteJournal(file(`twice-${commits}.db`), { commits });
    await journal.claim("s", "a", 1);
    const order: string[] = [];
    const first = journal.close().then(() => order.push("first"));
    await journal.close().then(() => order.push("second"));
    await first;
    expect(order).toEqual(["first", "second"]);
  });
});

describe("a journal on SQLite", () => {
  it("measures a commit, and stays in this thread if it takes less than a millisecond", async () => {
    const path = file("measured.db");
    const journal = sqliteJournal(path);
    expect(["inline", "thread"]).toContain(journal.commits);
    await journal.claim("s", "a", 1);
    expect(await journal.appendAll([oneLine("s", 1, 1)])).toEqual([{ type: "ok" }]);
    await journal.close();
  });

  it("appends after another writer, and where that one has cut rows", async () => {
    const path = file("two.db");
    const [one, two] = [sqliteJournal(path, { commits: "inline" }), sqliteJournal(path, { commits: "inline" })];
    await one.claim("s", "a", 1);
    await two.claim("t", "b", 1);
    for (const seq of [1, 2]) expect(await one.appendAll([oneLine("s", 1, seq)])).toEqual([{ type: "ok" }]);
    for (const seq of [1, 2]) expect(await two.appendAll([oneLine("t", 1, seq)])).toEqual([{ type: "ok" }]);
    expect(await one.appendAll([oneLine("s", 1, 3)])).toEqual([{ type: "ok" }]);
    for (const seq of [3, 4]) await two.appendAll([oneLine("t", 1, seq)]);
    expect(await two.snapshot("t", 1, 4, "{}")).toEqual({ type: "ok" });
    expect(await two.retain("t", 1, [])).toEqual({ type: "ok", base: 4 });
    for (const seq of [4, 5]) expect(await one.appendAll([oneLine("s", 1, seq)])).toEqual([{ type: "ok" }]);
    await one.close();
    await two.close();
    const after = sqliteJournal(path, { commits: "inline" });
    expect(await after.verify("s")).toMatchObject({ type: "whole", seq: 5 });
    expect((await after.read("s", 1)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(await after.claim("s", "c", 1)).toEqual({ type: "claimed", lastOwner: "lost", epoch: 2, seq: 5 });
    await after.close();
  });

  it("refuses a single append after another claim", async () => {
    const path = file("claimed.db");
    const [one, two] = [sqliteJournal(path, { commits: "inline" }), sqliteJournal(path, { commits: "inline" })];
    await one.claim("s", "a", 1);
    for (const seq of [1, 2]) await one.appendAll([oneLine("s", 1, seq)]);
    await two.claim("s", "b", 1);
    expect(await one.appendAll([oneLine("s", 1, 3)])).toEqual([{ type: "fenced", epoch: 2 }]);
    expect(await two.appendAll([oneLine("s", 2, 3)])).toEqual([{ type: "ok" }]);
    await one.close();
    await two.close();
  });

  it("evicts scopes from memory for others", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const journal = sqliteJournal(file("many.db"), { commits: "inline", synchronous: "normal" });
    const park = async (from: number, to: number): Promise<void> => {
      for (let i = from; i < to; i++) await journal.claim(`session:${i}`, "a", 1);
      const names = Array.from({ length: to - from }, (_, i) => `session:${from + i}`);
      await journal.appendAll(names.map((scope) => oneLine(scope, 1, 1)));
      await Promise.all(names.map((scope) => journal.release(scope, "a")));
    };
    await park(0, 4096);
    collect();
    const before = process.memoryUsage().heapUsed;
    await park(4096, 10_096);
    collect();
    expect((process.memoryUsage().heapUsed - before) / 6000).toBeLessThan(100);
    await journal.close();
  }, 60_000);

  it("keeps no rows that retention cut or a move replaced", async () => {
    const path = file("cut.db");
    const journal = sqliteJournal(path, { commits: "inline" });
    const rows = (): unknown => {
      const other = new DatabaseSync(path, { readOnly: true });
      const found = other.prepare("SELECT count(*) AS n FROM append").get()?.["n"];
      other.close();
      return found;
    };
    await journal.claim("s", "a", 1);
    for (let seq = 1; seq <= 6; seq++) {
      await journal.appendAll([oneLine("s", 1, seq)]);
      if (seq % 2 === 1) continue;
      await journal.snapshot("s", 1, seq, "{}");
      expect(await journal.retain("s", 1, [])).toEqual({ type: "ok", base: seq });
      expect(rows()).toBe(1); // The last row is empty: its number is not used again.
    }
    await journal.appendAll([oneLine("s", 1, 7)]);
    const { appendId, lines, wakeAt } = oneLine("s", 1, 1);
    const nothing = { kept: [], finished: [], letters: [], secrets: [] };
    const adopted = {
      scope: "s",
      epoch: 1,
      nonce: "n",
      appendId,
      lines,
      wakeAt,
      approvals: 0,
      protocol: 1,
      ...nothing,
    };
    expect(await journal.moves?.adopt(adopted)).toEqual({ type: "ok" });
    expect(rows()).toBe(1);
    await journal.close();
  });

  it("forgets an instance a week after its loss, and no sooner", async () => {
    let now = 0;
    const day = 24 * 60 * 60 * 1000;
    const journal = sqliteJournal(file("forgotten.db"), { commits: "inline", now: () => now });
    await journal.join("a", { ttlMs: 1000 });
    for (const [days, lost] of [
      [6, ["a"]],
      [8, []],
    ] as const) {
      now = days * day;
      await journal.join("b", { ttlMs: 1000 });
      expect(await journal.lost()).toEqual(lost);
    }
    await journal.close();
  });

  it("has a thread with a small young generation", async () => {
    const begun = once(process, "worker");
    const journal = sqliteJournal(file("thread.db"), { commits: "thread" });
    const [{ resourceLimits }] = (await begun) as [Worker];
    expect(resourceLimits?.maxYoungGenerationSizeMb).toBeLessThanOrEqual(16);
    await journal.close();
  });

  it("stays a file that the driver before opens, beside this one, and knows which instances are of it", async () => {
    const path = file("fleet.db");
    const knows2 = { ttlMs: 60_000, protocol: 2 };
    const older = new DatabaseSync(path);
    older.exec(readFileSync(join(import.meta.dirname, "version-7.sql"), "utf8"));
    const olderJoins = older.prepare(
      "INSERT INTO instance (name, until, ttl, address, process) VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET until = excluded.until, ttl = excluded.ttl, address = excluded.address, process = excluded.process",
    );
    const olderRenews = older.prepare("UPDATE instance SET until = ? + ttl WHERE name = ? AND until > ?");
    olderJoins.run("old", Date.now() + 60_000, 60_000, null, null);
    const journal = sqliteJournal(path);
    expect(older.prepare("PRAGMA user_version").get()).toEqual({ user_version: 7 });
    await journal.join("new", knows2);
    expect(await known(journal)).toBe(1);
    olderRenews.run(Date.now(), "old", Date.now());
    expect(await known(journal)).toBe(1);
    older.prepare("DELETE FROM instance WHERE name = 'old'").run();
    expect(await known(journal)).toBeUndefined();

    await journal.join("again", knows2);
    expect(await journal.renew("again")).toBe(true);
    expect(await known(journal)).toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve, 2));
    olderJoins.run("again", Date.now() + 60_000, 60_000, null, null);
    expect(await known(journal)).toBe(1);
    expect(await journal.renew("again")).toBe(true); // As the old one does it, through whichever driver.
    expect(await known(journal)).toBe(1);
    older.close();
    await journal.close();
  });

  it("migrates a file of version 1, as that version wrote it", async () => {
    const path = file("version-1.db");
    const old = new DatabaseSync(path);
    old.exec(readFileSync(join(import.meta.dirname, "version-1.sql"), "utf8"));
    old.close();
    const journal = sqliteJournal(path);
    expect((await journal.read("session:a", 1)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect((await journal.read("session:b", 2)).map(({ line }) => line)).toEqual(
      [2, 3, 4].map((n) => `{"seq":${n}}\n`),
    );
    expect(await journal.find("session:a", "request", "r'1")).toBe(3);
    expect(await journal.due(5000)).toEqual(["session:a"]);
    expect(await journal.scopes("", "", 9)).toEqual([
      { scope: "session:a", epoch: 2, seq: 3, owner: "node:2", wakeAt: 2000 },
      { scope: "session:b", epoch: 1, seq: 4, owner: "node:2" },
    ]);
    expect(await journal.load("session:a", "node:2")).toEqual({ epoch: 2, seq: 3 });
    expect(await journal.claim("session:b", "node:3", 0)).toEqual({ type: "newer_protocol", protocol: 1 });
    expect(await journal.claim("session:b", "node:3", 1)).toEqual({
      type: "claimed",
      lastOwner: "lost",
      epoch: 2,
      seq: 4,
    });
    expect(await journal.appendAll([oneLine("session:b", 2, 5)])).toEqual([{ type: "ok" }]);
    expect((await journal.head("session:b"))?.seq).toBe(5);
    await journal.close();
    const again = sqliteJournal(path);
    expect(await again.read("session:b", 5)).toEqual([{ seq: 5, line: "5\n" }]);
    await again.close();
  });
});
