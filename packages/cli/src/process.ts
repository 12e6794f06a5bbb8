/** Runs the command line as a process: streams, signals, exit code. */
import { Console } from "node:console";
import { createInterface } from "node:readline";
import { run } from "./run.ts";

// Standard output carries pawl's own output only. Modules and tools that log are sent to standard error.
globalThis.console = new Console(process.stderr);

const interrupt = new AbortController();
process.once("SIGINT", () => interrupt.abort());
process.once("SIGTERM", () => interrupt.abort());
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0); // The reader has closed the pipe.
  throw error;
});

const code = await run(process.argv.slice(2), {
  out: process.stdout,
  err: process.stderr,
  lines: { [Symbol.asyncIterator]: () => createInterface({ input: process.stdin })[Symbol.asyncIterator]() },
  env: process.env,
  now: Date.now,
  interrupted: interrupt.signal,
});

// Flushes the output, then exits: a loaded module may keep the process alive.
process.stdout.write("", () => process.exit(code));
