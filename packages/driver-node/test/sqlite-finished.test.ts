import { DatabaseSync } from "node:sqlite";
import type { Append } from "@pawl/runtime/driver";
import { afterAll, expect, it } from "vitest";
import { type SqliteJournal, sqliteJournal } from "../src/index.ts";
import { Appender } from "../src/sqlite/append.ts";
import { claim } from "../src/sqlite/ownership.ts";
import { Connection } from "../src/sqlite/connection.ts";
import { find } from "../src/sqlite/query.ts";
import { ScopeIndex } from "../src/sqlite/scope-index.ts";
import { oneLine, testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

/** Returns an append of one line that finishes these requests. */
const finishing = (scope: string, seq: number, ...ids: readonly string[]): Append => ({
  ...oneLine(scope, 1, seq),
  finished: ids.map((id) => ({ kind: "request", id, seq })),
});

const opened = async (path: string): Promise<SqliteJournal> => {
  const journal = sqliteJournal(path, { commits: "inline" });
  await journal.claim("s", "a", 1);
  return journal;
};

it("is found by its writer, by others at once, and after a crash", async () => {
  const one = await opened(file("found.db"));
  expect(await one.appendAll([finishing("s", 1, "r")])).toEqual([{ type: "ok" }]);
  const other = sqliteJournal(file("found.db"), { commits: "inline" });
  for (const journal of [one, other, one]) {
    expect(await journal.find("s", "request", "r")).toBe(1);
    expect(await journal.find("s", "call", "r")).toBeUndefined();
    expect(await journal.find("t", "request", "r")).toBeUndefined();
  }
  await one.appendAll([finishing("s", 2, "q")]);
  const third = sqliteJournal(file("found.db"), { commits: "inline" });
  expect(await third.find("s", "request", "q")).toBe(2);
  for (const journal of [one, other, third]) await journal.close();
});

it("is found by the former owner after another claim", async () => {
  const path = file("claimed.db");
  const one = await opened(path);
  await one.appendAll([finishing("s", 1, "r")]);
  const other = sqliteJournal(path, { commits: "inline" });
  await other.claim("s", "b", 1);
  await other.appendAll([{ ...finishing("s", 2, "q"), epoch: 2 }]);
  for (const journal of [one, other])
    for (const [id, seq] of [["r", 1] as const, ["q", 2] as const])
      expect(await journal.find("s", "request", id)).toBe(seq);
  await one.close();
  await other.close();
});

it("is found on either side of the mark", async () => {
  const journal = await opened(file("mark.db"));
  const [appends, each] = [60, 100];
  for (let seq = 1; seq <= appends; seq++) {
    const ids = Array.from({ length: each }, (_, i) => `r${seq}.${i}`);
    expect(await journal.appendAll([finishing("s", seq, ...ids)])).toEqual([{ type: "ok" }]);
    for (const looked of [1, seq]) expect(await journal.find("s", "request", `r${looked}.0`)).toBe(looked);
  }
  expect(await journal.moves?.index("s")).toHaveLength(appends * each);
  await journal.close();
});

it("is found whatever its name is", async () => {
  const ids = ["", "\0", "a\0b", "12", "null", '"', "'", "\\u0000", "\n", "\u{1f600}", "{}"];
  const one = await opened(file("named.db"));
  await one.appendAll([finishing("s", 1, ...ids)]);
  const other = sqliteJournal(file("named.db"), { commits: "inline" });
  for (const id of ids) expect(await other.find("s", "request", id)).toBe(1);
  const index = await other.moves?.index("s");
  expect(index?.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  await one.close();
  await other.close();
});

it("is found in a file of version 5, which kept entries behind the mark in a table", async () => {
  const path = file("version-5.db");
  const one = await opened(path);
  await one.appendAll([finishing("s", 1, "indexed")]);
  await one.find("t", "request", "indexed"); // A reader without ownership brings the index up to date.
  await one.close();
  const old = new DatabaseSync(path);
  old.exec(`
    CREATE TABLE finishing (
      number INTEGER PRIMARY KEY, scope INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL
    ) STRICT;
    INSERT INTO finishing (scope, kind, id, seq) VALUES (1, 'request', 'r', 2), (1, 'request', 'r', 3), (1, 'call', 'r', 2);
    ALTER TABLE append DROP COLUMN finished;
    DROP INDEX scope_approvals;
    ALTER TABLE scope DROP COLUMN approvals;
    PRAGMA user_version = 5;
  `);
  old.close();
  const journal = sqliteJournal(path);
  const found = (["indexed", "r"] as const).map((id) => journal.find("s", "request", id));
  expect(await Promise.all([...found, journal.find("s", "call", "r")])).toEqual([1, 3, 2]);
  await journal.close();
});

it("is the later one, if something finished twice", async () => {
  const one = await opened(file("twice.db"));
  for (const seq of [1, 2]) await one.appendAll([finishing("s", seq, "r")]);
  expect(await one.find("s", "request", "r")).toBe(2);
  const other = sqliteJournal(file("twice.db"), { commits: "inline" });
  expect(await other.find("s", "request", "r")).toBe(2);
  await one.close();
  await other.close();
});

it("is found after a rolled-back catch-up", () => {
  const at = new Connection(file("nothing.db"));
  const index = new ScopeIndex(at);
  const appender = new Appender(at, index);
  claim(at, index, "s", { instance: "a", protocol: 1, above: 0 });
  expect(appender.appendAll([finishing("s", 1, "r")])).toEqual([{ type: "ok" }]);
  const failing = (): void =>
    at.transact(() => {
      index.catchUp();
      throw new Error("no room");
    });
  expect(failing).toThrow("no room");
  expect(find(at, index, "s", "request", "r")).toBe(1);
  expect(appender.appendAll([finishing("s", 2, "q")])).toEqual([{ type: "ok" }]);
  for (const [id, seq] of [["r", 1] as const, ["q", 2] as const]) expect(find(at, index, "s", "request", id)).toBe(seq);
  at.close();
});
