/** The process of the command line: its streams, its signals, its exit code. */
import { Console } from "node:console";
import { run } from "./run.ts";

// Standard output is what pawl says: modules that it loads, and tools that it runs, speak beside it.
globalThis.console = new Console(process.stderr);

const interrupt = new AbortController();
process.once("SIGINT", () => interrupt.abort());
process.once("SIGTERM", () => interrupt.abort());
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0); // Whoever reads has seen enough.
  throw error;
});

const code = await run(process.argv.slice(2), {
  out: process.stdout,
  err: process.stderr,
  env: process.env,
  now: Date.now,
  interrupted: interrupt.signal,
});

// A module that was loaded may keep the process alive; what was said is written out first.
process.stdout.write("", () => process.exit(code));
