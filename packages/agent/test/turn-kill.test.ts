/**
 * A turn whose process is killed with SIGKILL in mid-word, again and again, while a server of models in a process of its own
 * keeps a ledger of what was asked: `PAWL_KILLS=500` for the whole proof.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sqliteJournal } from "@pawl/driver-node";
import type { TurnFrame } from "../src/index.ts";

const kills = Number(process.env["PAWL_KILLS"] ?? 3);
const folder = mkdtempSync(join(tmpdir(), "pawl-turn-kill-"));
const ledger = join(folder, "ledger.txt");
const told = join(folder, "told.jsonl");
let stop = (): void => undefined;
let url = "";

beforeAll(async () => {
  writeFileSync(ledger, "");
  const server = spawn(
    process.execPath,
    [join(import.meta.dirname, "model-server.ts"), ledger, "60", `${process.pid}`],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  stop = () => void server.kill("SIGKILL");
  const port = await new Promise<string>((resolve) =>
    server.stdout.once("data", (data) => resolve(String(data).trim())),
  );
  url = `http://127.0.0.1:${port}`;
});
afterAll(() => {
  stop();
  rmSync(folder, { recursive: true, force: true });
});

const toldSoFar = (): number => {
  try {
    return readFileSync(told, "utf8").split("\n").length;
  } catch {
    return 0;
  }
};

/** Runs the turn; it is killed once so many more lines were told to its reader. */
const run = async (killedAfter?: number): Promise<{ readonly code: number | null; readonly out: string }> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "turn-process.ts"), folder, url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.on("data", (data) => (out += String(data)));
  const over = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
  if (killedAfter !== undefined) {
    const enough = toldSoFar() + killedAfter;
    while (child.exitCode === null && toldSoFar() < enough) await pause(5);
    child.kill("SIGKILL");
  }
  return { code: await over, out };
};

/** The text of each model call, as a reader has it that applies what it was told. */
const textsOf = (frames: readonly TurnFrame[]): readonly string[] => {
  const texts: string[] = [];
  for (const frame of frames) {
    const before = texts[frame.n - 1] ?? "";
    if (frame.type === "reset") texts[frame.n - 1] = before.slice(0, frame.keep);
    if (frame.type === "text") texts[frame.n - 1] = before.slice(0, frame.at) + frame.text;
  }
  return texts;
};

it(`goes on over ${kills} kills: a reader has every word once, and no answer on record is asked for again`, async () => {
  let killed = 0;
  for (; killed < kills; killed++) expect((await run(2 + (killed % 3))).code, `kill ${killed + 1}`).toBe(null);
  const { code, out } = await run();
  expect(code).toBe(0);
  const words = "A pawl lets a wheel turn one way only and so no step that was taken is ever lost again";
  expect(JSON.parse(out)).toMatchObject({ status: "finished", text: words });
  const lines = readFileSync(told, "utf8").trim().split("\n");
  const frames = lines.map((line) => (JSON.parse(line) as { frame: TurnFrame }).frame);
  expect(textsOf(frames)).toEqual(["Let me look at it.", words]);

  const journal = sqliteJournal(join(folder, "journal.db"));
  const answered = (await journal.read("session:s", 1)).filter(({ line }) => line.includes('"type":"model.answered"'));
  await journal.close();
  expect(answered).toHaveLength(2);
  const paid = readFileSync(ledger, "utf8").trim().split("\n");
  const asked = paid.filter((line) => line.startsWith("asked "));
  expect(new Set(asked)).toEqual(new Set(["asked session:s/t1:model:1.0", "asked session:s/t1:model:2.0"]));
  // Once the second is asked for, the first is on record: it is asked for no more.
  expect(asked.lastIndexOf("asked session:s/t1:model:1.0")).toBeLessThan(asked.indexOf("asked session:s/t1:model:2.0"));
  expect(asked.length).toBeLessThanOrEqual(2 + killed);
}, 120_000);
