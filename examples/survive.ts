/** `pnpm demo:terminal`: an agent's process is killed with SIGKILL again and again, and its call continues where it was. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const folder = mkdtempSync(join(tmpdir(), "pawl-demo-"));
const colour = process.stdout.isTTY;
const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);

/** Runs the agent and kills it after a number of steps; resolves with true if it ended by itself. */
const live = async (life: number, stepsToLive: number): Promise<boolean> => {
  const agent = spawn(process.execPath, [join(import.meta.dirname, "trip.ts"), folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  console.log(paint(36, `process ${agent.pid} starts${life > 1 ? " and opens the same journal" : ""}`));
  const ended = new Promise<NodeJS.Signals | null>((resolve) => agent.on("exit", (_, signal) => resolve(signal)));
  let steps = 0;
  for await (const line of createInterface({ input: agent.stdout })) {
    console.log(`  ${line}`);
    steps += 1;
    if (steps === stepsToLive) agent.kill("SIGKILL");
  }
  const signal = await ended;
  if (signal !== null) console.log(paint(31, `process ${agent.pid} is killed with ${signal}\n`));
  return signal === null;
};

console.log("A tool books a trip in five steps. Its process is killed with SIGKILL; the next process continues.\n");
const lives = [1, 3, 4];
let isOver = false;
for (let life = 1; !isOver && life <= 8; life++) isOver = await live(life, lives[life - 1] ?? Infinity);

const tries = readFileSync(join(folder, "tries.txt"), "utf8").trim().split("\n");
const done = readdirSync(join(folder, "world")).map(decodeURIComponent);
const countOf = (list: readonly string[], key: string): number => list.filter((other) => other === key).length;
console.log("\nRequests to the outside world, by idempotency key:");
for (const key of new Set(tries)) {
  const work = paint(32, `done ${countOf(done, key)}×`);
  console.log(`  tried ${countOf(tries, key)}×, ${work}  ${key}`);
}
console.log(`
A recorded step never runs again: it is answered from the log. If the process died between the work and its record, the step
is tried again under the same key, so that a service with idempotency keys does the work once.`);
rmSync(folder, { recursive: true });
process.exitCode = isOver && done.length === new Set(tries).size ? 0 : 1;
