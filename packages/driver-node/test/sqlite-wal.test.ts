/** The write-ahead log of a journal file, which gets its full length before its pages are needed. */
import { spawnSync } from "node:child_process";
import { copyFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { type SqliteJournal, sqliteJournal } from "../src/index.ts";
import { oneLine, testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

const walOf = (path: string): number => statSync(`${path}-wal`).size;

/** Appends so many lines to the scope, each a commit. */
const write = async (journal: SqliteJournal, from: number, count: number): Promise<void> => {
  for (let seq = from; seq < from + count; seq++)
    expect(await journal.appendAll([oneLine("s", 1, seq)])).toEqual([{ type: "ok" }]);
};

const lengthOf = async (journal: SqliteJournal): Promise<number> => (await journal.read("s", 1)).length;

it("grows once, where a file is written to, and not with each commit", async () => {
  const path = file("grows.db");
  const journal = sqliteJournal(path, { commits: "inline" });
  await journal.claim("s", "a", 1);
  await write(journal, 1, 3);
  expect(walOf(path)).toBeLessThan(1e6);
  await write(journal, 4, 20);
  const full = walOf(path);
  expect(full).toBeGreaterThan(4e6);
  await write(journal, 24, 1300);
  expect(walOf(path)).toBe(full);
  await journal.close();
});

it.each(["inline", "thread"] as const)(
  "has its full length at once, where it is opened to be written to (%s)",
  async (commits) => {
    const path = file(`writer-${commits}.db`);
    const journal = sqliteJournal(path, { commits, writer: true });
    await journal.claim("s", "a", 1);
    const full = walOf(path);
    expect(full).toBeGreaterThan(4e6);
    await write(journal, 1, 20);
    expect(walOf(path)).toBe(full);
    await journal.close();
  },
);

it("is read again after a crash, wherever the zeros behind its pages end", async () => {
  const path = file("zeros.db");
  const journal = sqliteJournal(path, { commits: "inline" });
  await journal.claim("s", "a", 1);
  await write(journal, 1, 15);
  const pages = walOf(path);
  await write(journal, 16, 1);
  await write(journal, 17, 5);
  for (const length of [walOf(path), walOf(path) - 1, 2e6, pages + 300_000]) {
    const copy = file(`zeros-${length}.db`);
    copyFileSync(path, copy);
    copyFileSync(`${path}-wal`, `${copy}-wal`);
    truncateSync(`${copy}-wal`, length);
    const after = sqliteJournal(copy, { commits: "inline" });
    expect(await lengthOf(after)).toBe(21);
    expect(await after.claim("s", "b", 1)).toMatchObject({ type: "claimed", seq: 21 });
    await after.close();
  }
  await journal.close();
});

it("goes on growing with each commit where there is no room for more", async () => {
  const path = file("room.db");
  const program = `
    import { sqliteJournal } from ${JSON.stringify(join(import.meta.dirname, "../src/index.ts"))};
    import { oneLine } from ${JSON.stringify(join(import.meta.dirname, "sqlite-rig.ts"))};
    const journal = sqliteJournal(process.argv[1], { commits: "inline" });
    await journal.claim("s", "a", 1);
    for (let seq = 1; seq <= 60; seq++) console.log((await journal.appendAll([oneLine("s", 1, seq)]))[0].type);
    process.kill(process.pid, "SIGKILL");`;
  const blocks = 2048; // Of 512 bytes: no file may be larger.
  const run = `ulimit -f ${blocks}; exec "$0" --input-type=module-typescript -e "$1" "$2"`;
  const { stdout } = spawnSync("/bin/sh", ["-c", run, process.execPath, program, path], { encoding: "utf8" });
  expect(stdout.trim().split("\n")).toEqual(Array.from({ length: 60 }, () => "ok"));
  expect(walOf(path)).toBeLessThan(blocks * 512);
  const journal = sqliteJournal(path);
  expect(await lengthOf(journal)).toBe(60);
  await journal.close();
});
