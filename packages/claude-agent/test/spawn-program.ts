/** A program that starts a process as the SDK does, says its id, and waits to be killed. */
import { guardedSpawn } from "../src/guarded-spawn.ts";

const child = guardedSpawn({ MORE: "there" })({
  command: process.execPath,
  args: ["-e", "console.log(process.pid, process.env.MORE); process.stdin.resume(); setInterval(() => {}, 1000)"],
  env: {},
  signal: new AbortController().signal,
});
child.stdout.on("data", (said: Buffer) => process.send?.(String(said).trim()));
