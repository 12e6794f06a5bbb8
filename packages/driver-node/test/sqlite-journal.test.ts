import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Append } from "@pawl/runtime";
import { type JournalRig, journalChecks } from "@pawl/testkit";
import { afterAll, describe, expect, it } from "vitest";
import { type SqliteJournal, sqliteJournal } from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-journal-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string): string => join(folder, name);

const append = (epoch: number, seq: number): Append => ({
  scope: "s",
  epoch,
  expectedSeq: seq,
  appendId: `${epoch}:${seq}`,
  lines: [{ seq, line: `${seq}\n` }],
  finished: [],
  wakeAt: undefined,
  protocol: 1,
  messages: [],
  received: [],
});

/** One file, which each `open` connects to anew. */
const rigOn = (path: string): JournalRig & { readonly close: () => void } => {
  const connections: SqliteJournal[] = [];
  let now = 0;
  return {
    open: async (room) => {
      const maxBytes = room === undefined ? {} : { maxBytes: statSync(path).size + room };
      const journal = sqliteJournal(path, { now: () => now, ...maxBytes });
      connections.push(journal);
      return journal;
    },
    pass: (ms) => (now += ms),
    close: () => {
      for (const { close } of connections) close();
    },
  };
};

describe("a journal on SQLite", () => {
  for (const [i, { name, run }] of journalChecks.entries()) {
    it(name, async () => {
      const rig = rigOn(file(`suite-${i}.db`));
      await run(rig);
      rig.close();
    });
  }

  it("has after it was closed what it had acknowledged", async () => {
    const before = sqliteJournal(file("reopened.db"));
    await before.claim("s", "a", 1);
    await before.appendAll([append(1, 1)]);
    before.close();
    const after = sqliteJournal(file("reopened.db"));
    expect(await after.read("s", 1)).toEqual([{ seq: 1, line: "1\n" }]);
    expect(await after.claim("s", "b", 1)).toEqual({ type: "claimed", epoch: 2, seq: 1 });
    after.close();
  });

  it("fences one process by the claim of another on the same file", async () => {
    const [one, two] = [sqliteJournal(file("shared.db")), sqliteJournal(file("shared.db"))];
    await one.claim("s", "one", 1);
    expect(await one.appendAll([append(1, 1)])).toEqual([{ type: "ok" }]);
    await two.claim("s", "two", 1);
    expect(await one.appendAll([append(1, 2)])).toEqual([{ type: "fenced", epoch: 2 }]);
    expect(await two.appendAll([append(2, 2)])).toEqual([{ type: "ok" }]);
    one.close();
    two.close();
  });

  it("refuses a file of a newer schema, and one that is not intact", () => {
    const newer = new DatabaseSync(file("newer.db"));
    newer.exec("PRAGMA user_version = 99");
    newer.close();
    expect(() => sqliteJournal(file("newer.db"))).toThrow("has schema 99");
    writeFileSync(file("garbage.db"), "this is not a database, and never was one".repeat(100));
    expect(() => sqliteJournal(file("garbage.db"))).toThrow("file is not a database");
  });
});
