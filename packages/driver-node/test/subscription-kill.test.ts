/** Subscriptions of three months, whose process is killed with SIGKILL again and again: `PAWL_KILLS=200` for the whole proof. */
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { bundled } from "../../../test/runtime/bundled.ts";
import { sqliteJournal } from "../src/index.ts";
import { testFolder } from "./sqlite-rig.ts";

const program = await bundled(join(import.meta.dirname, "subscription-process.ts"));
const { file, remove } = testFolder();
afterAll(remove);

const kills = Number(process.env["PAWL_KILLS"] ?? 32);
/** Begins a new subscription with every fourth process. */
const countAt = (n: number): number => 1 + Math.floor(n / 4);

/** Serves so many subscriptions, until all are over or, after so many milliseconds of work, it is killed. */
const serve = async (path: string, ledger: string, count: number, killedAfterMs?: number): Promise<number | null> => {
  const child = spawn(process.execPath, [program, path, ledger, `${count}`], { stdio: ["ignore", "pipe", "inherit"] });
  const over = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
  const ready = new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  if (killedAfterMs !== undefined) {
    await Promise.race([ready, over]);
    await pause(killedAfterMs);
    child.kill("SIGKILL");
  }
  return over;
};

const eventsOf = async (path: string, scope: string): Promise<readonly string[]> => {
  const journal = sqliteJournal(path);
  const lines = await journal.read(scope, 1);
  await journal.close();
  return lines.map(({ line }) => line);
};

const countOf = (lines: readonly string[], text: string): number => lines.filter((line) => line.includes(text)).length;

describe("a subscription of three months whose process is killed again and again", () => {
  it(`charges three times, and tells of three charges, over ${kills} kills`, async () => {
    const [path, ledger] = [file("subscriptions.db"), file("ledger")];
    mkdirSync(ledger);
    let started = 0;
    for (let killed = 0; killed < kills; started++) {
      const code = await serve(path, ledger, countAt(started), (started * 37) % 120);
      killed += Number(code === null); // Now and then all was over sooner.
    }
    const subscriptions = countAt(started);
    expect(await serve(path, ledger, subscriptions)).toBe(0);
    const charges = readdirSync(ledger);
    for (let i = 0; i < subscriptions; i++) {
      expect(charges.filter((name) => name.startsWith(`s${i}-`))).toHaveLength(3);
      const lines = await eventsOf(path, `process:counter of s${i}`);
      expect(countOf(lines, '"type":"process.signal"')).toBe(3);
      expect(countOf(lines, '"event_type":"month"')).toBe(3);
      expect(countOf(lines, '"status":"success","payload":3')).toBeGreaterThan(0);
    }
  }, 600_000);
});
