/** A PostgreSQL server of the tests' own: on loopback, with fsync, in a folder that goes with it. */
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { isThere, postgres } from "../../../test/program.ts";

const run = promisify(execFile);

const bin = dirname(postgres.path);

export const hasServer = isThere(postgres);

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => (address !== null && typeof address === "object" ? resolve(address.port) : reject()));
    });
  });

/** PostgreSQL does not run as root: then it runs as the user that Debian's package made. */
export const asUser = (command: string, args: readonly string[]): readonly [string, readonly string[]] =>
  process.getuid?.() === 0
    ? ["setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", command, ...args]]
    : [command, args];

export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** Starts it again after a stop. */
  readonly start: () => Promise<void>;
  /** `immediate` is a crash: the next start recovers from the log. */
  readonly stop: (mode: "fast" | "immediate") => Promise<void>;
  readonly remove: () => Promise<void>;
  /** Runs a statement as the owner of the server. */
  readonly sql: (text: string) => Promise<readonly Record<string, unknown>[]>;
}

export const testServer = async (settings: readonly string[] = []): Promise<TestServer> => {
  const [folder, port] = [mkdtempSync(join(tmpdir(), "pawl-postgres-")), await freePort()];
  const data = join(folder, "data");
  if (process.getuid?.() === 0) await run("chown", ["postgres", folder]);
  const call = async (program: string, args: readonly string[]): Promise<void> => {
    const [command, all] = asUser(join(bin, program), args);
    await run(command, [...all], { cwd: folder });
  };
  await call("initdb", ["-D", data, "-U", "pawl", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
  const flags = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    `unix_socket_directories=${folder}`,
    "shared_buffers=64MB",
  ];
  const start = async (): Promise<void> => {
    const [command, all] = asUser(join(bin, "postgres"), [
      "-D",
      data,
      ...[...flags, ...settings].flatMap((flag) => ["-c", flag]),
    ]);
    // The server ends with this process: its keeper reads until the pipe closes.
    const keeper = spawn("sh", ["-c", '"$@" & server=$!; read -r _; kill -INT $server', "sh", command, ...all], {
      cwd: folder,
      stdio: ["pipe", "ignore", "ignore"],
    });
    keeper.unref();
    if (keeper.stdin !== null && "unref" in keeper.stdin && typeof keeper.stdin.unref === "function")
      keeper.stdin.unref();
    for (let tries = 0; ; tries++) {
      try {
        return await call("pg_isready", ["-q", "-h", "127.0.0.1", "-p", `${port}`]);
      } catch (thrown) {
        if (tries > 200) throw thrown;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  };
  const stop: TestServer["stop"] = (mode) => call("pg_ctl", ["stop", "-D", data, "-m", mode, "-w"]);
  await start();
  const url = `postgres://pawl@127.0.0.1:${port}/postgres`;
  return {
    url,
    sql: async (text) => {
      const client = new Client({ connectionString: url });
      await client.connect();
      try {
        return (await client.query<Record<string, unknown>>(text)).rows;
      } finally {
        await client.end();
      }
    },
    port,
    start,
    stop,
    remove: async () => {
      await stop("immediate").catch(() => undefined); // It may be stopped already.
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
