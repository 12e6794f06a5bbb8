/** Faults of a file: each ends in a clear error, and acknowledged appends survive. */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  openSync,
  closeSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Journal } from "@pawl/runtime";
import { afterAll, describe, expect, it } from "vitest";
import { type SqliteJournal, sqliteJournal } from "../src/index.ts";
import { oneLine, testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

const seqs = async (journal: Journal, scope = "s"): Promise<readonly number[]> =>
  (await journal.read(scope, 1)).map(({ seq }) => seq);

/** Makes a journal with a number of appends of scope `s`. */
const written = async (path: string, appends: number, text = ""): Promise<SqliteJournal> => {
  const journal = sqliteJournal(path, { commits: "inline" });
  await journal.claim("s", "a", 1);
  for (let seq = 1; seq <= appends; seq++) await journal.appendAll([oneLine("s", 1, seq, text)]);
  return journal;
};

/** Runs as a user whom file permissions bind. */
const asNobody = <A>(work: () => A): A => {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    return work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
};

const codeOf = (work: () => unknown): unknown => {
  try {
    work();
    return "nothing was thrown";
  } catch (thrown) {
    return (thrown as { readonly code: unknown }).code;
  }
};

describe("a journal file that cannot be opened", () => {
  it("has a newer schema, or is not a database", () => {
    const newer = new DatabaseSync(file("newer.db"));
    newer.exec("PRAGMA user_version = 99");
    newer.close();
    const page = readFileSync(join(import.meta.dirname, "../../../docs/journal-file.md"), "utf8");
    const [, today] = /Today's schema is (\d+)/.exec(page) ?? [];
    expect(() => sqliteJournal(file("newer.db"))).toThrow(
      `has schema 99, this driver knows up to ${today}: update pawl`,
    );
    expect(codeOf(() => sqliteJournal(file("newer.db")))).toBe("newer_schema");
    writeFileSync(file("garbage.db"), "this is not a database, and never was one".repeat(100));
    expect(codeOf(() => sqliteJournal(file("garbage.db")))).toBe("not_intact");
  });

  it("is in a missing or read-only folder", async () => {
    expect(codeOf(() => sqliteJournal(file("nowhere/journal.db")))).toBe("can_not_open");
    mkdirSync(file("closed"));
    await (await written(file("closed/journal.db"), 1)).close();
    chmodSync(dirname(file("x")), 0o755);
    chmodSync(file("closed/journal.db"), 0o444);
    chmodSync(file("closed"), 0o555);
    expect(["read_only", "can_not_open"]).toContain(
      asNobody(() => codeOf(() => sqliteJournal(file("closed/journal.db")))),
    );
    expect(asNobody(() => codeOf(() => sqliteJournal(file("closed/new.db"))))).toBe("can_not_open");
    chmodSync(file("closed"), 0o755);
    chmodSync(file("closed/journal.db"), 0o644);
    const journal = sqliteJournal(file("closed/journal.db"));
    expect(await seqs(journal)).toEqual([1]);
    await journal.close();
  });

  it("has an overwritten page", async () => {
    const path = file("damaged.db");
    await (await written(path, 200, "x".repeat(1000))).close();
    const pages = statSync(path).size / 4096;
    const descriptor = openSync(path, "r+");
    for (let page = 20; page < Math.min(40, pages); page++)
      writeSync(descriptor, Buffer.alloc(4096, 0xff), 0, 4096, page * 4096);
    closeSync(descriptor);
    expect(codeOf(() => sqliteJournal(path))).toBe("not_intact");
    const journal = sqliteJournal(path, { integrity: "skip", commits: "inline" });
    await expect(journal.read("s", 1)).rejects.toMatchObject({ name: "JournalFileError", code: "not_intact" });
    await journal.close();
  });
});

describe("a journal file with a missing row", () => {
  it.each([
    ["the newest", 3],
    ["one amid the others", 2],
    ["the first", 1],
  ])("returns no shortened log: %s", async (_, first) => {
    const path = file(`without-${first}.db`);
    const journal = await written(path, 3);
    expect(await seqs(journal)).toEqual([1, 2, 3]);
    const other = new DatabaseSync(path);
    other.prepare("DELETE FROM append WHERE first = ?").run(first);
    other.close();
    await expect(seqs(journal)).rejects.toMatchObject({ name: "JournalFileError", code: "not_intact" });
    await journal.close();
  });
});

describe.each(["inline", "thread"] as const)("a journal file that commits %s", (commits) => {
  it("is locked by another process: nothing is acknowledged until the lock is released", async () => {
    const path = file(`locked-${commits}.db`);
    const journal = sqliteJournal(path, { commits, busyMs: 30 });
    await journal.claim("s", "a", 1);
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const [result] = await journal.appendAll([oneLine("s", 1, 1)]);
    expect(result).toMatchObject({
      type: "failed",
      message: expect.stringContaining("another process holds its lock"),
    });
    await expect(journal.claim("s", "b", 1)).rejects.toMatchObject({ name: "JournalFileError", code: "locked" });
    other.exec("ROLLBACK");
    other.close();
    expect(await seqs(journal)).toEqual([]);
    expect(await journal.appendAll([oneLine("s", 1, 1)])).toEqual([{ type: "ok" }]);
    await journal.close();
  });

  it("is full: claims, snapshots and leases report it, and acknowledged lines can be read", async () => {
    const path = file(`full-${commits}.db`);
    await (await written(path, 3)).close();
    const journal = sqliteJournal(path, { commits, maxBytes: statSync(path).size });
    const long = "x".repeat(50_000);
    expect(await journal.appendAll([oneLine("s", 1, 4, long)])).toEqual([{ type: "full" }]);
    expect(await journal.snapshot("s", 1, 3, long)).toEqual({ type: "full" });
    await expect(journal.claim(long, "a", 1)).rejects.toMatchObject({ name: "JournalFileError", code: "full" });
    await expect(journal.join(long, { ttlMs: 1 })).rejects.toMatchObject({ name: "JournalFileError", code: "full" });
    expect(await seqs(journal)).toEqual([1, 2, 3]);
    await journal.close();
  });
});

describe("a torn commit", () => {
  it("is there whole or not at all, wherever the file was cut or overwritten", async () => {
    const [path, wal] = [file("torn.db"), `${file("torn.db")}-wal`];
    const journal = await written(path, 2);
    await journal.claim("t", "a", 1);
    const before = statSync(wal).size;
    await journal.appendAll([oneLine("s", 1, 3, "x".repeat(9000)), oneLine("t", 1, 1)]);
    const after = statSync(wal).size;
    const bytes = readFileSync(wal);
    const found = async (spoil: (copy: string) => void): Promise<unknown> => {
      copyFileSync(path, file("copy.db"));
      writeFileSync(file("copy.db-wal"), bytes);
      spoil(file("copy.db-wal"));
      const copy = sqliteJournal(file("copy.db"), { commits: "inline" });
      const lines = [await seqs(copy), await seqs(copy, "t")];
      await copy.close();
      return lines;
    };
    const [whole, without] = [
      [[1, 2, 3], [1]],
      [[1, 2], []],
    ];
    expect(after).toBeGreaterThan(before);
    expect(await found(() => undefined)).toEqual(whole);
    for (let size = before; size < after; size += 1999)
      expect(await found((copy) => truncateSync(copy, size)), `cut at ${size}`).toEqual(without);
    const spoilt = Buffer.from(bytes);
    spoilt.writeUInt8(spoilt.readUInt8(after - 100) ^ 0xff, after - 100);
    expect(await found((copy) => writeFileSync(copy, spoilt))).toEqual(without);
    await journal.close();
  });
});
