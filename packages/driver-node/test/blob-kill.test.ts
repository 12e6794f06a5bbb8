/** Kills a process with SIGKILL between a blob and the event that refers to it. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { namesIn, sweepBlobs } from "@pawl/runtime/driver";
import { afterAll, describe, expect, it } from "vitest";
import { sqliteJournal } from "../src/index.ts";
import { testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

const run = (
  path: string,
  fate: "live" | "die",
): Promise<{ readonly text: string; readonly signal: string | null }> => {
  const program = join(import.meta.dirname, "blob-process.ts");
  const child = spawn(process.execPath, [program, path, fate], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return new Promise((resolve) => child.on("close", (_, signal) => resolve({ text, signal })));
};

const namesOf = async (path: string): Promise<ReadonlySet<string>> => {
  const journal = sqliteJournal(path);
  const lines = await journal.read("session:s", 1);
  await journal.close();
  return new Set(lines.flatMap(({ line }) => namesIn(line)));
};

describe("a process that is killed between a blob and its event", () => {
  it("leaves an orphaned blob, and a log whose references all exist", async () => {
    const path = file("killed.db");
    expect((await run(path, "die")).signal).toBe("SIGKILL");
    expect(await namesOf(path)).toEqual(new Set());
    const left = sqliteJournal(path);
    const [orphan, ...more] = (await left.blobs?.old(0)) ?? [];
    expect([orphan?.length, more]).toEqual([64, []]);
    await left.close();

    const { text, signal } = await run(path, "live");
    expect(signal).toBe(null);
    const value = JSON.parse(text) as string;
    expect(value.length).toBeGreaterThan(65_536);
    const named = await namesOf(path);
    expect(named.size).toBe(1);

    const journal = sqliteJournal(path);
    expect((await sweepBlobs(journal, { graceMs: 0 })).removed).toEqual([orphan]);
    const [name] = named;
    const bytes = await journal.blobs?.read("session:s", name as string);
    expect(new TextDecoder().decode(bytes)).toBe(JSON.stringify(value));
    expect(await journal.verify("session:s")).toMatchObject({ type: "whole" });
    await journal.close();
  }, 60_000);
});
