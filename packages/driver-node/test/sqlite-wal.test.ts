/** The write-ahead log, which gets its full length before its pages are needed. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { type SqliteJournal, sqliteJournal } from "../src/index.ts";
import { mayShareCheckpoints } from "../src/sqlite/checkpoint.ts";
import { oneLine, testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

const walOf = (path: string): number => statSync(`${path}-wal`).size;

/** Appends lines to the scope, one commit each. */
const write = async (journal: SqliteJournal, from: number, count: number): Promise<void> => {
  for (let seq = from; seq < from + count; seq++)
    expect(await journal.appendAll([oneLine("s", 1, seq)])).toEqual([{ type: "ok" }]);
  await new Promise((resolve) => void setImmediate(resolve));
};

const lengthOf = async (journal: SqliteJournal): Promise<number> => (await journal.read("s", 1)).length;

it("grows once if a file is written to, not with each commit", async () => {
  const path = file("grows.db");
  const journal = sqliteJournal(path, { commits: "inline" });
  await journal.claim("s", "a", 1);
  await write(journal, 1, 3);
  expect(walOf(path)).toBeLessThan(1e6);
  await write(journal, 4, 20);
  const full = walOf(path);
  expect(full).toBeGreaterThan(4e6);
  await write(journal, 24, 600);
  expect(walOf(path)).toBe(full);
  await journal.close();
});

/** Returns the salt in the log's header, which SQLite changes when it restarts the log. */
const saltOf = (path: string): string => readFileSync(`${path}-wal`).subarray(16, 24).toString("hex");

it.each(["inline", "thread"] as const)(
  "becomes four times as long under heavy writing, then is reused from its start (%s)",
  async (commits) => {
    const path = file(`much-${commits}.db`);
    const journal = sqliteJournal(path, { commits, writer: true });
    await journal.claim("s", "a", 1);
    let seq = 1;
    for (; walOf(path) < 16e6; seq += 500) await write(journal, seq, 500);
    const [full, salt] = [walOf(path), saltOf(path)];
    const most = seq + 10_000;
    for (; saltOf(path) === salt && seq < most; seq += 500) await write(journal, seq, 500);
    expect(saltOf(path)).not.toBe(salt);
    expect(walOf(path)).toBe(full);
    expect(await lengthOf(journal)).toBe(seq - 1);
    await journal.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
    const after = sqliteJournal(path);
    expect(await lengthOf(after)).toBe(seq - 1);
    await after.close();
  },
);

it.each(["inline", "thread"] as const)(
  "has its full length at once if it is opened for writing (%s)",
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

it("keeps everything acknowledged if its process is killed while the thread works", async () => {
  const path = file("killed.db");
  for (const ms of [500, 900, 600, 1100]) {
    const child = spawn(process.execPath, [join(import.meta.dirname, "heavy-writer.ts"), path]);
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => void (said += chunk.toString()));
    await once(child.stdout, "data");
    await new Promise((resolve) => setTimeout(resolve, ms));
    child.kill("SIGKILL");
    await once(child, "close");
    const acknowledged = said.split("\n").slice(0, -1);
    expect(acknowledged.length).toBeGreaterThan(50); // Each has 15 pages: the thread is working.
    const journal = sqliteJournal(path);
    const lines = await journal.read("s", 1);
    expect(lines.length).toBeGreaterThanOrEqual(Number(acknowledged.at(-1)));
    expect(lines.every(({ seq }, i) => seq === i + 1)).toBe(true);
    await journal.close();
  }
});

it("is read after a crash, wherever the zeros behind its pages end", async () => {
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

/** Returns the results of appends in a process that may make no file larger than a number of 512-byte blocks. */
const appendedWithin = (path: string, blocks: number, rows: number, characters: number): readonly string[] => {
  const program = `
    import { sqliteJournal } from ${JSON.stringify(join(import.meta.dirname, "../src/index.ts"))};
    import { oneLine } from ${JSON.stringify(join(import.meta.dirname, "sqlite-rig.ts"))};
    const journal = sqliteJournal(process.argv[1], { commits: "inline" });
    await journal.claim("s", "a", 1);
    const text = "x".repeat(${characters});
    for (let seq = 1; seq <= ${rows}; seq++) {
      console.log((await journal.appendAll([oneLine("s", 1, seq, text)]))[0].type);
      await new Promise((resolve) => setImmediate(resolve));
    }
    process.kill(process.pid, "SIGKILL");`;
  const run = `ulimit -f ${blocks}; exec "$0" --input-type=module-typescript -e "$1" "$2"`;
  const { stdout } = spawnSync("/bin/sh", ["-c", run, process.execPath, program, path], { encoding: "utf8" });
  return stdout.trim().split("\n");
};

it.each([
  ["goes on growing with each commit", 2048, 60, 0, [200_000, 700_000]],
  ["stays as long as it is, and SQLite makes its checkpoints alone,", 12_288, 2500, 700, [5_273_600, 5_273_600]],
] as const)("%s if the disk is full", async (_, blocks, rows, characters, [least, most]) => {
  const path = file(`room-${rows}.db`);
  expect(appendedWithin(path, blocks, rows, characters)).toEqual(Array.from({ length: rows }, () => "ok"));
  expect(walOf(path)).toBeGreaterThanOrEqual(least); // Space that was not preallocated is left to others.
  expect(walOf(path)).toBeLessThanOrEqual(most);
  const journal = sqliteJournal(path);
  expect(await lengthOf(journal)).toBe(rows);
  await journal.close();
});

it("is copied into the file beside the commits, long before it is full", async () => {
  const path = file("copied.db");
  const journal = sqliteJournal(path, { commits: "inline", writer: true });
  await journal.claim("s", "a", 1);
  const page = "x".repeat(4000);
  for (let seq = 1; seq <= 900; seq++) await journal.appendAll([oneLine("s", 1, seq, page)]);
  await vi.waitFor(() => expect(statSync(path).size).toBeGreaterThan(1e6), 20_000);
  await journal.close();
});

it.each([
  ["3.44.5", false],
  ["3.44.6", true],
  ["3.47.2", false],
  ["3.50.2", false],
  ["3.50.7", true],
  ["3.51.2", false],
  ["3.51.3", true],
  ["3.53.4", true],
  ["4.0.0", true],
])("is copied beside the commits only with a fixed SQLite: %s", (version, mayShare) => {
  expect(mayShareCheckpoints(version)).toBe(mayShare);
});

/** Returns the output of a process that writes pages to a journal under `limit`. */
const saidBy = (limit: string, path: string, rows: number, how: string, end: string): string => {
  const program = `
    import { closeSync, openSync } from "node:fs";
    import { sqliteJournal } from ${JSON.stringify(join(import.meta.dirname, "../src/index.ts"))};
    import { oneLine } from ${JSON.stringify(join(import.meta.dirname, "sqlite-rig.ts"))};
    let threads = 0;
    process.on("worker", (one) => { threads += 1; one.on("exit", () => void (threads -= 1)); });
    const journal = sqliteJournal(process.argv[1], ${how});
    const text = "x".repeat(3900);
    const write = async (from, rows) => {
      let written = 0;
      for (let seq = from; seq < from + rows; seq++) {
        const [{ type }] = await journal.appendAll([oneLine("s", 1, seq, text)]);
        written += type === "ok" ? 1 : 0;
        await new Promise((resolve) => setImmediate(resolve));
      }
      return written;
    };
    if (${rows} > 0) await journal.claim("s", "a", 1);
    await write(1, ${rows});
    ${end}`;
  const run = `${limit}; exec "$0" --no-warnings --input-type=module-typescript -e "$1" "$2"`;
  const ended = spawnSync("/bin/sh", ["-c", run, process.execPath, program, path], {
    encoding: "utf8",
    timeout: 60_000,
  });
  return `${ended.stdout.trim()} ${ended.status}`;
};

const inline = '{ commits: "inline", synchronous: "normal", writer: true }';

it.each([
  ["its thread", 1500, inline],
  ["the thread of all commits", 0, '{ commits: "thread" }'],
])("does not keep a process alive that never closes its journal: %s", (what, rows, how) => {
  expect(saidBy("true", file(`open-${what}.db`), rows, how, 'console.log("over")')).toBe("over 0");
});

it("keeps its length if no file can be opened any more, and no commit fails", () => {
  const end = `
    await new Promise((resolve) => setTimeout(resolve, 300));
    const held = [];
    try { for (;;) held.push(openSync("/dev/null", "r")); } catch {}
    const written = await write(851, 300);
    for (const one of held) closeSync(one);
    console.log(written);
    await journal.close();`;
  expect(saidBy("ulimit -n 200", file("files.db"), 850, inline, end)).toBe("300 0");
});

it("is released by the thread before its journal is closed, even if the thread was given up", () => {
  const end = `
    await write(1501, 1000);
    await journal.close();
    console.log(threads);`;
  expect(saidBy("ulimit -f 12288", file("given-up.db"), 1500, inline, end)).toBe("0 0");
});
