/** `pawl host`: runs tools over a journal and serves them over WebSocket. */
import { once } from "node:events";
import { createServer } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { trace } from "@opentelemetry/api";
import { type Log, Refused } from "@pawl/runtime";
import { type LogLevel, entryOf, type Mover } from "@pawl/runtime/driver";
import {
  type Host,
  type HostDefinition,
  type HostOptions,
  logTo,
  openHost,
  type OpenOptions,
  type OpenRuntime,
  openRuntime,
  Receivers,
} from "@pawl/driver-node";
import { aesCodec, fileKeys } from "@pawl/driver-node/operator";
import { type Command, type Input, countOf, journalOption } from "../command.ts";
import { isDatabase, shownJournal } from "../database.ts";
import { CliError, type Exit, exit, usageError } from "../exit.ts";
import { journalFolders, journalOf } from "../place.ts";
import { loadModule } from "../module.ts";
import { hostIn } from "./module.ts";
import type { Terminal } from "../terminal.ts";
import { type HostConfig, configOf, journalPlaceOf, limitsOf, type Peer } from "./config.ts";
import { devServerFor } from "./dev.ts";
import { mountedBy } from "./flow.ts";
import { secretsOf, textIn, tokenFor, writeGrants } from "./secret.ts";
import { Client, moverOver } from "@pawl/wire";

export interface Peers {
  readonly mover: (to: string) => Mover;
  readonly close: () => void;
}

/** Makes a client for each peer. The token's file is read at each connection, so a token can be renewed. */
export const peersOf = (peers: readonly Peer[]): Peers => {
  const clients = new Map<string, Client>();
  const clientTo = (to: string): Client => {
    const peer = peers.find(({ url }) => url === to);
    if (peer === undefined) throw new Refused("peer_unknown", `${to} is not one of this host's peers`);
    const client =
      clients.get(to) ?? new Client({ url: to, token: () => textIn(peer.token_file).toString("utf8").trim() });
    clients.set(to, client);
    return client;
  };
  return {
    mover: (to) => moverOver(clientTo(to)),
    close: () => {
      for (const client of clients.values()) client.close();
    },
  };
};

const levels: readonly string[] = ["debug", "info", "warn", "error"] satisfies readonly LogLevel[];
const isLevel = (text: string): text is LogLevel => levels.includes(text);

/** Merges the configuration with the command line, which wins. */
const mergedConfig = (input: Input, terminal: Terminal): HostConfig => {
  const config = configOf(input.positionals[0]);
  const [port, idle] = [countOf(input, "port"), countOf(input, "stop-after-idle")];
  const [address, level, direct] = [input.text("address"), input.text("log-level"), input.text("direct")];
  if (level !== undefined && !isLevel(level))
    throw usageError(`--log-level expects ${levels.join(", ")}, found \`${level}\``);
  const whole = {
    ...config,
    ...journalFolders(input, terminal),
    ...(port === undefined ? {} : { port }),
    ...(address === undefined ? {} : { address }),
    ...(direct === undefined ? {} : { direct }),
    ...(level === undefined ? {} : { log_level: level }),
    ...(idle === undefined ? {} : { stop_after_idle_ms: idle * 1000 }),
    ...(input.isSet("traces") ? { traces: true } : {}),
    ...(input.isSet("studio") ? { studio: true } : {}),
  };
  if ((whole.port ?? 0) > 65_535) throw usageError(`--port expects at most 65535, found ${whole.port}`);
  return whole;
};

const serverOf = ({ tls }: HostConfig): Pick<HostOptions, "server"> => {
  if (tls === undefined) return {};
  const pem = { key: textIn(tls.key), cert: textIn(tls.cert) };
  try {
    return { server: createServer(pem) };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const message = `${tls.key} and ${tls.cert} are not a key and certificate for TLS: ${why}`;
    throw new CliError("unreadable", message, {
      exit: exit.unreachable,
      hint: "both must be PEM, and the key must match the certificate",
    });
  }
};

const idlePolls = 10;

/** Resolves once nobody has been connected, and no scope in memory, for `idleMs`. */
const untilIdle = async (host: Host, { runtime }: OpenRuntime, idleMs: number, signal: AbortSignal): Promise<void> => {
  const everyMs = Math.max(1, idleMs / idlePolls);
  for (let quiet = 0; quiet < idlePolls && !signal.aborted;) {
    await pause(everyMs, undefined, { signal }).catch(() => undefined); // An abort ends the loop.
    quiet = host.connections === 0 && runtime.inMemory === 0 ? quiet + 1 : 0;
  }
};

const untilStopped = async (host: Host, open: OpenRuntime, config: HostConfig, signal: AbortSignal): Promise<void> => {
  const { stop_after_idle_ms: idleMs } = config;
  if (idleMs !== undefined) return untilIdle(host, open, idleMs, signal);
  if (!signal.aborted) await once(signal, "abort");
};

const dayMs = 86_400_000;

/** Bounds of the journal's size. */
const journalBounds = ({ retention_days: days, max_journal_mb: mb }: HostConfig): Partial<OpenOptions> => ({
  ...(days === undefined ? {} : { retention: { olderThanMs: days * dayMs } }),
  ...(mb === undefined ? {} : { maxBytes: mb * 1024 * 1024 }),
});

/** Returns the address of Studio with a token, which the page takes out of it. */
const studioLink = (url: string, token: string): string => `${url.replace(/^ws/, "http")}/studio/#token=${token}`;

/** Serves until it was asked to stop, then releases its scopes to the next host. */
const serve = async (config: HostConfig, journal: string, input: Input, terminal: Terminal): Promise<Exit> => {
  const { tools: file, address, port = 0, log_level: level = "warn", studio: hasStudio = false } = config;
  const {
    tools: own = [],
    host: ports = {},
    limits,
    origins: allowed = [],
    ...defined
  }: Partial<HostDefinition> = file === undefined ? {} : hostIn(file, await loadModule(file));
  const { tools, flows } = await mountedBy(config, own);
  const secrets = await secretsOf(config.direct ?? journal, config.secrets);
  const shown = shownJournal(journal);
  const log: Log = logTo({ write: (line) => terminal.note(line.trimEnd()) }, level);
  const peers = peersOf(config.peers ?? []);
  const receivers = new Receivers();
  const server = serverOf(config);
  const open = openRuntime({
    ...defined,
    ...journalPlaceOf(journal, config),
    tools,
    host: flows === undefined ? ports : { ...ports, flow: { ...ports.flow, observe: flows.observe } },
    ...(config.blobs === undefined ? {} : { blobs: config.blobs }),
    ...(config.keys === undefined ? {} : { codec: aesCodec(fileKeys(config.keys)) }),
    log,
    mover: receivers.mover(peers.mover),
    ...journalBounds(config),
    ...(config.traces === true ? { tracer: trace.getTracer("pawl") } : {}),
    ...(config.executor_lease_ms === undefined ? {} : { executorLeaseMs: config.executor_lease_ms }),
    ...(config.upgrade === undefined ? {} : { upgrade: config.upgrade }),
    ...(config.code_version === undefined ? {} : { codeVersion: config.code_version }),
  });
  const { runtime, close } = open;
  const at = {
    ...(address === undefined ? {} : { address }),
    ...(config.public_url === undefined ? {} : { publicUrl: config.public_url }),
  };
  try {
    const host = await openHost({
      runtime,
      secrets,
      port,
      ...at,
      origins: [...allowed, ...(config.origins ?? []), ...input.texts("origin")],
      limits: { ...limits, ...limitsOf(config.limits) },
      log,
      receivers,
      ...(flows === undefined ? {} : { flows }),
      ...(hasStudio ? { studio: (await import("@pawl/studio")).studioHandler } : {}),
      health: true,
      forwards: config.forward ?? isDatabase(journal),
      ...server,
    });
    writeGrants(secrets, config.grants ?? [], terminal.now());
    const by = input.text("grant");
    const token = by === undefined ? undefined : tokenFor(secrets, { by }, terminal.now()).token;
    const studio = hasStudio
      ? studioLink(host.url, token ?? tokenFor(secrets, { by: "studio" }, terminal.now()).token)
      : undefined;
    log(entryOf("host.listening", { url: host.url, journal: shown }));
    const mounts = (config.flows ?? []).map(({ name }) => name);
    terminal.print(
      { url: host.url, journal: shown, tools: tools.map(({ name }) => name), flows: mounts, token, studio },
      () => [
        `${host.url} runs ${tools.map(({ name }) => name).join(", ")} over ${shown}`,
        ...mounts.map((name) => `flow ${name} at ${host.url.replace(/^ws/, "http")}/flows/${name}`),
        ...(token === undefined ? [] : [`token for ${by}: ${token}`]),
        ...(studio === undefined ? [] : [`studio at ${studio}`]),
      ],
    );
    await runtime.recover();
    await untilStopped(host, open, config, terminal.interrupted);
    await runtime.drain(config.drain_ms);
    await host.close();
    log(entryOf("host.stopped", { url: host.url }));
  } finally {
    server.server?.close();
    peers.close();
    await close();
  }
  return exit.fine;
};

export const hostCommand: Command = {
  name: "host",
  summary: "Run tools over a journal, for programs that reach it over WebSocket",
  usage: "[config or module]",
  minArgs: 0,
  maxArgs: 1,
  options: {
    ...journalOption,
    direct: { type: "string", value: "<url>", what: "The database itself, where the journal is behind a pooler" },
    port: { type: "string", short: "p", value: "<n>", what: "The port (a free one)" },
    address: { type: "string", value: "<ip>", what: "The address to listen on (this machine only)" },
    origin: { type: "strings", value: "<url>", what: "An origin of pages that may connect (may be given again)" },
    grant: { type: "string", value: "<name>", what: "Print a token in this name for all sessions, valid for a day" },
    "log-level": { type: "string", value: "<level>", what: "debug, info, warn (default) or error; to standard error" },
    traces: { type: "boolean", what: "Make OpenTelemetry spans with the SDK that the process has set up" },
    studio: { type: "boolean", what: "Serve Studio, and print a link to it that is valid for a day" },
    dev: { type: "boolean", what: "Start a PostgreSQL server for development, with -j postgres:" },
    "stop-after-idle": { type: "string", value: "<s>", what: "Stop after being unused for this long" },
  },
  detail:
    "The argument is a configuration (a .json file; by default pawl.json if it exists), or a module that exports its tools\nas `tools`, beside `host`, `options` and `background` if it has them, or all of it by `export default defineHost({ … })`.\nOptions override the configuration. By default the host listens on loopback. The secret that signs tokens is kept beside\nthe journal, in a file that ends in .host. SIGTERM and SIGINT stop it cleanly: it lets running\nsteps end, for ten seconds at most (`drain_ms`), and the next host continues the unfinished work. A second signal stops it at once.",
  json: [{ what: "When it listens", fields: "url, journal, tools, flows, token?, studio?" }],
  examples: [
    ["pawl host ./tools.ts -j journal.db --port 7777 --grant ann", "and print a token for it"],
    ["pawl host ./tools.ts -j postgres://db.internal/app", "one of many hosts on a database"],
    ["pawl host ./tools.ts -j postgres://pool.internal/app --direct postgres://db.internal/app", "behind PgBouncer"],
    ["pawl host ./tools.ts -j postgres: --dev", "on a database that it starts for itself, to try it"],
    ["pawl host ./host.ts --origin http://localhost:5173", "pages of this origin may connect"],
    ["pawl host ./tools.ts --studio", "and print a link to the page on which people approve and look"],
    ["pawl host pawl.json --log-level info", "with a configuration"],
    ["pawl host pawl.json --traces", "with spans; NODE_OPTIONS='--import ./otel.ts' sets up the SDK"],
  ],
  run: async (input, terminal) => {
    const config = mergedConfig(input, terminal);
    if (config.tools === undefined && config.flows === undefined)
      throw usageError("no tools are named", "name a module, or a configuration with `tools`: pawl host ./tools.ts");
    const journal = input.text("journal") ?? config.journal ?? journalOf(input, terminal);
    const server = await devServerFor(journal, input.isSet("dev"));
    if (server === undefined) return serve(config, journal, input, terminal);
    terminal.note(`PostgreSQL for development, in .pawl-postgres: ${server.url}`);
    try {
      return await serve(config, server.url, input, terminal);
    } finally {
      await server.stop();
    }
  },
};
