/** `pnpm demo`: an agent's process is killed with SIGKILL again and again, and its call goes on where it was. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const folder = mkdtempSync(join(tmpdir(), "pawl-demo-"));
const colour = process.stdout.isTTY;
const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);

/** Runs the agent until it has told so many steps, and kills it; or until it ends. Says whether it ended. */
const live = async (life: number, stepsToLive: number): Promise<boolean> => {
  const agent = spawn(process.execPath, [join(import.meta.dirname, "agent.ts"), folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  console.log(paint(36, `process ${agent.pid} starts${life > 1 ? " and opens the same journal" : ""}`));
  const ended = new Promise<NodeJS.Signals | null>((resolve) => agent.on("exit", (_, signal) => resolve(signal)));
  let told = 0;
  for await (const line of createInterface({ input: agent.stdout })) {
    console.log(`  ${line}`);
    told += 1;
    if (told === stepsToLive) agent.kill("SIGKILL");
  }
  const signal = await ended;
  if (signal !== null) console.log(paint(31, `process ${agent.pid} is killed with ${signal}\n`));
  return signal === null;
};

console.log("A tool books a trip in five steps. Its process is killed with SIGKILL; the next one goes on.\n");
const lives = [1, 3, 4];
let isOver = false;
for (let life = 1; !isOver && life <= 8; life++) isOver = await live(life, lives[life - 1] ?? Infinity);

const tries = readFileSync(join(folder, "ledger.txt"), "utf8").trim().split("\n");
const counts = new Map<string, number>();
for (const key of tries) counts.set(key, (counts.get(key) ?? 0) + 1);
console.log("\nWhat the world heard, by idempotency key:");
for (const [key, count] of counts) {
  console.log(`  ${paint(32, "done once")}${count > 1 ? `, tried ${count} times` : ""}  ${key}`);
}
console.log(`
A step that is on record is never run again: it is answered from the log. One whose process died between the work and
its record is tried again under the same key, so that a service which takes idempotency keys does it once.`);
rmSync(folder, { recursive: true });
process.exitCode = isOver ? 0 : 1;
