/**
 * A private PostgreSQL, as Debian packages it, with default settings. Runs as a user other than root and is stopped by
 * its process id.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Server, freePort, serve, untilAnswered } from "./process.ts";

const root = "/usr/lib/postgresql";

const binaries = (): string => {
  const releases = existsSync(root) ? readdirSync(root) : [];
  const newest = releases.toSorted((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) throw new Error(`PostgreSQL is not installed: nothing in ${root}; apt install postgresql`);
  return join(root, newest, "bin");
};

const idOf = (kind: "-u" | "-g"): number => Number(execFileSync("id", [kind, "postgres"], { encoding: "utf8" }));

/** PostgreSQL refuses to run as root. */
const user = (): { readonly uid?: number; readonly gid?: number } =>
  process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : {};

const childrenOf = (parent: number): readonly number[] =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && existsSync(`/proc/${pid}/stat`))
    .filter((pid) => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1] === `${parent}`);

export interface Postgres {
  readonly version: string;
  readonly port: number;
  readonly pids: () => readonly number[];
  readonly stop: Server["stop"];
}

export const postgres = async (folder: string): Promise<Postgres> => {
  const [bin, as, data] = [binaries(), user(), join(folder, "postgres")];
  mkdirSync(data);
  chmodSync(folder, 0o755); // PostgreSQL's user needs access.
  if (as.uid !== undefined) chownSync(data, as.uid, as.gid ?? as.uid);
  chmodSync(data, 0o700);
  const here = { ...as, cwd: data };
  execFileSync(join(bin, "initdb"), ["-D", join(data, "db"), "-A", "trust", "-U", "postgres"], {
    ...here,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const port = await freePort();
  const where = ["-c", "listen_addresses=127.0.0.1", "-c", `unix_socket_directories=${data}`];
  const args = ["-D", join(data, "db"), "-p", `${port}`, ...where];
  const server = serve(join(bin, "postgres"), args, folder, "postgres", here);
  const ask = ["-h", "127.0.0.1", "-p", `${port}`, "-U", "postgres", "-Atc", "show server_version"];
  const version = await untilAnswered(
    async () => execFileSync("psql", ask, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim(),
    server,
  );
  return { version, port, pids: () => [server.pid, ...childrenOf(server.pid)], stop: () => server.stop("SIGINT") };
};
