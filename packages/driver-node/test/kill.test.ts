/** Real processes, killed with SIGKILL at random moments, over one journal file. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { headerLine, replay } from "@pawl/sansio-core";
import { afterAll, describe, expect, it } from "vitest";
import { sqliteJournal } from "../src/index.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

interface Life {
  readonly output: string;
  readonly signal: NodeJS.Signals | null;
}

/** One process, which may live for so long. */
const live = (folder: string, ms: number): Promise<Life> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "worker.ts"), folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const death = setTimeout(() => child.kill("SIGKILL"), ms);
    child.on("exit", (_, signal) => {
      clearTimeout(death);
      resolve({ output, signal });
    });
  });

/** Lives one after the other, killed at moments that a seed decides, until one comes to the end. */
const untilDone = async (
  folder: string,
  seed: number,
): Promise<{ readonly output: string; readonly kills: number }> => {
  let random = seed;
  for (let kills = 0; ; kills++) {
    random = (random * 1_103_515_245 + 12_345) % 2 ** 31;
    const { output, signal } = await live(folder, kills < 6 ? 150 + (random % 250) : 60_000);
    if (signal === null) return { output, kills };
  }
};

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-kill-"));
  folders.push(folder);
  return folder;
};

const settledIn = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) => {
    const { event } = JSON.parse(line) as { readonly event: { readonly type: string; readonly key: string } };
    return event.type === "step.settled" ? [event.key] : [];
  });

describe("a process that is killed", () => {
  it("leaves a journal from which the next one goes on to the reply that an undisturbed one gives", async () => {
    const undisturbed = await live(newFolder(), 60_000);
    for (const seed of [7, 42]) {
      const folder = newFolder();
      const { output, kills } = await untilDone(folder, seed);
      expect(kills, `seed ${seed}`).toBeGreaterThan(0);
      expect(output, `seed ${seed}`).toBe(undisturbed.output);
      const tries = readFileSync(join(folder, "world.txt"), "utf8").trim().split("\n");
      expect(new Set(tries).size).toBe(12);
      const journal = sqliteJournal(join(folder, "journal.db"));
      const lines = (await journal.read("session:s", 1)).map(({ line }) => line);
      journal.close();
      const settled = settledIn(lines);
      expect(new Set(settled).size, "each step is on record once").toBe(settled.length);
      const header = headerLine({ format: 1, protocol: 1, scope: "session:s", epoch: 1, writer: "test", base: 0 });
      const { fault, events } = replay([header, ...lines]);
      expect(fault).toBeUndefined();
      expect(events).toBe(lines.length);
    }
  }, 120_000);
});
