/** A process that is killed with SIGKILL in the same step again and again: it goes on each time, and says when. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "pawl-crash-loop-"));
afterAll(() => rmSync(folder, { recursive: true }));

const pauses = [0, 0, 30, 60, 90];
const program = join(import.meta.dirname, "trip-process.ts");

interface Lived {
  readonly said: string;
  readonly signal: NodeJS.Signals | null;
}

/** Lives until it is killed in its step, or to its end. */
const live = async (isKilled: boolean): Promise<Lived> => {
  const args = [program, join(folder, "journal.db"), isKilled ? "1000000" : "1", JSON.stringify(pauses)];
  const child = spawn(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: "" } });
  let said = "";
  const hear = (chunk: Buffer): void => {
    said += chunk.toString();
    if (isKilled && said.includes("booking the train")) child.kill("SIGKILL");
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  const [, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { said, signal };
};

const kills = 8;

it("the tool of the README goes on after every kill in its first step, and its process says so", async () => {
  const lives: Lived[] = [];
  for (let n = 0; n < kills; n++) lives.push(await live(true));
  lives.push(await live(false));
  expect(lives.map(({ signal }) => signal)).toEqual([...Array.from({ length: kills }, () => "SIGKILL"), null]);
  const keys = lives.map(({ said }) => /booking the train, idempotency key (?<key>.*)/.exec(said)?.groups?.["key"]);
  expect(new Set(keys).size).toBe(1);
  const last = "last in step `book train`";
  // The step was asked for since the body had started: the first kill does not count.
  const words = lives.map(({ said }) => /resumes .*`/.exec(said)?.[0]);
  expect(words).toEqual([
    undefined,
    undefined,
    `resumes at once: 1 crash, ${last}`,
    `resumes at once: 2 crashes in a row, ${last}`,
    `resumes in 0.03 s: 3 crashes in a row, ${last}`,
    `resumes in 0.06 s: 4 crashes in a row, ${last}`,
    `resumes in 0.09 s: 5 crashes in a row, ${last}`,
    `resumes in 0.09 s: 6 crashes in a row, ${last}`,
    `resumes in 0.09 s: 7 crashes in a row, ${last}`,
  ]);
  expect(lives.at(-1)?.said).toContain('"train in Lviv","hotel in Lviv"');
}, 120_000);
