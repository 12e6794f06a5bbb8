/** Starts and stops the servers that peers need. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { pause } from "./system.ts";

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export interface Server {
  readonly pid: number;
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
  /** The output so far. */
  readonly said: () => string;
}

export const serve = (
  command: string,
  args: readonly string[],
  folder: string,
  name: string,
  options: SpawnOptions = {},
): Server => {
  const file = join(folder, `${name}.log`);
  const log = openSync(file, "a");
  const child = spawn(command, args, { ...options, stdio: ["ignore", log, log] });
  closeSync(log);
  child.on("error", (error) => console.error(`${name}: ${error.message}`));
  running.add(child);
  const ended = once(child, "exit").finally(() => running.delete(child));
  ended.catch(() => undefined); // A server that fails to start is reported by whoever waits for its answer.
  return {
    pid: child.pid ?? 0,
    stop: async (signal = "SIGKILL") => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await ended;
    },
    said: () => readFileSync(file, "utf8"),
  };
};

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, "close");
  return port;
};

/** Retries until there is an answer. */
export const untilAnswered = async <A>(ask: () => Promise<A>, server: Server, ms = 60_000): Promise<A> => {
  const end = Date.now() + ms;
  for (;;) {
    try {
      return await ask();
    } catch (thrown) {
      if (Date.now() > end)
        throw new Error(`no answer: ${String(thrown)}\n${server.said().slice(-2000)}`, { cause: thrown });
      await pause(200);
    }
  }
};
