/** The configuration of a host, one JSON file. An error names the path of the wrong or unknown field. */
import type { LogLevel } from "@pawl/runtime/driver";
import {
  type Codec,
  type Json,
  type ValueError,
  array,
  boolean,
  formatPath,
  oneOf,
  optional,
  parse,
  read,
  record,
  string,
  u64,
  isObject,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { OpenOptions } from "@pawl/driver-node";
import { type HostLimits, isSocketUrl, Right } from "@pawl/driver-node/operator";
import { isDatabase } from "../database.ts";
import { CliError, exit, usageError } from "../exit.ts";

/** A token that the host writes to a file at its start. */
export interface Grant {
  readonly by: string;
  readonly scopes?: readonly string[];
  readonly rights?: readonly Right[];
  readonly hours?: number;
  readonly file: string;
}

/** Another host that scopes may move to, and the file with a token for it that has the right `move`. */
export interface Peer {
  readonly url: string;
  readonly token_file: string;
}

/** A flow that the host serves over HTTP under its name. */
export interface FlowConfig {
  readonly name: string;
  /** The flow, as JSON. */
  readonly file: string;
  /** Names that a request may bind, and the path behind the flow's name that binds them: `{city}/{day}`. */
  readonly parameters?: readonly string[];
  readonly path?: string;
  /** Handling of steps whose tool nobody has: they fail, or return a placeholder. */
  readonly unresolved?: "fail" | "placeholder";
}

export interface HostConfig {
  readonly journal?: string;
  /** The database itself, where `journal` is the address of a pooler. */
  readonly direct?: string;
  /** Prepares statements on the connections of `journal`: true by default. */
  readonly prepares?: boolean;
  /** The folder of large values. */
  readonly blobs?: string;
  /** The folder of keys that seal values. */
  readonly keys?: string;
  readonly flows?: readonly FlowConfig[];
  /** Tools that the flows may call, declared in JSON, and the local addresses that they may call. */
  readonly flow_tools?: string;
  /** Base address of tools whose declaration has only a path. */
  readonly flow_base?: string;
  readonly flow_allow?: readonly string[];
  /** The module that exports the tools. */
  readonly tools?: string;
  readonly address?: string;
  readonly port?: number;
  /** The address that other processes are given for this host's sessions. */
  readonly public_url?: string;
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly origins?: readonly string[];
  /** Files with the secrets that sign tokens, newest first. */
  readonly secrets?: readonly string[];
  readonly grants?: readonly Grant[];
  readonly peers?: readonly Peer[];
  readonly limits?: Limits;
  readonly executor_lease_ms?: number;
  /** Scopes of an older protocol are upgraded by themselves, or stay readable for older releases. */
  readonly upgrade?: "auto" | "never";
  /** The version of the tools' code: a call whose body has diverged waits for another one. */
  readonly code_version?: string;
  /** Age in days after which lines of sessions are deleted. Without it nothing is deleted. */
  readonly retention_days?: number;
  readonly max_journal_mb?: number;
  readonly log_level?: LogLevel;
  /** Makes spans with the OpenTelemetry SDK that the process has set up. */
  readonly traces?: boolean;
  /** Serves the page on which people approve and look, at `/studio/`. */
  readonly studio?: boolean;
  readonly stop_after_idle_ms?: number;
  /** Sends questions about sessions of other hosts to these hosts. Default: for a journal in a database. */
  readonly forward?: boolean;
  /** How long steps that run may take to end when the host is told to stop. */
  readonly drain_ms?: number;
}

type Snake<A extends string> = A extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : A;
type Limits = { readonly [K in keyof HostLimits as Snake<K>]?: number };

const LimitsCodec: Codec<Limits> = record<Limits>("the limits", {
  max_message_bytes: optional(u64),
  max_in_flight: optional(u64),
  max_in_flight_bytes: optional(u64),
  pause_bytes: optional(u64),
  pause_total_bytes: optional(u64),
  max_buffered_bytes: optional(u64),
  stall_ms: optional(u64),
  heartbeat_ms: optional(u64),
  hello_ms: optional(u64),
  max_connections: optional(u64),
  max_bad_frames: optional(u64),
});

const GrantCodec: Codec<Grant> = record<Grant>("a grant", {
  by: string,
  scopes: optional(array(string)),
  rights: optional(array(Right)),
  hours: optional(u64),
  file: string,
});

const FlowCodec: Codec<FlowConfig> = record<FlowConfig>("a flow", {
  name: string,
  file: string,
  parameters: optional(array(string)),
  path: optional(string),
  unresolved: optional(oneOf<"fail" | "placeholder">("what becomes of steps without a tool", "fail", "placeholder")),
});

const ConfigCodec: Codec<HostConfig> = record<HostConfig>("the configuration of a host", {
  journal: optional(string),
  direct: optional(string),
  prepares: optional(boolean),
  blobs: optional(string),
  keys: optional(string),
  flows: optional(array(FlowCodec)),
  flow_tools: optional(string),
  flow_base: optional(string),
  flow_allow: optional(array(string)),
  tools: optional(string),
  address: optional(string),
  port: optional(u64),
  public_url: optional(string),
  tls: optional(record<{ readonly key: string; readonly cert: string }>("tls", { key: string, cert: string })),
  origins: optional(array(string)),
  secrets: optional(array(string)),
  grants: optional(array(GrantCodec)),
  peers: optional(array(record<Peer>("a peer", { url: string, token_file: string }))),
  limits: optional(LimitsCodec),
  executor_lease_ms: optional(u64),
  upgrade: optional(oneOf<"auto" | "never">("when scopes are upgraded", "auto", "never")),
  code_version: optional(string),
  retention_days: optional(u64),
  max_journal_mb: optional(u64),
  log_level: optional(oneOf<LogLevel>("a log level", "debug", "info", "warn", "error")),
  traces: optional(boolean),
  studio: optional(boolean),
  stop_after_idle_ms: optional(u64),
  forward: optional(boolean),
  drain_ms: optional(u64),
});

type Path = ValueError["path"];

/** Returns the path of the first key that the codec did not read. */
const unknownKeyIn = (given: Json, taken: Json | undefined, path: Path = []): Path | undefined => {
  if (Array.isArray(given)) {
    for (const [i, item] of given.entries()) {
      const unknownKey = unknownKeyIn(item, Array.isArray(taken) ? taken[i] : undefined, [...path, i]);
      if (unknownKey !== undefined) return unknownKey;
    }
    return undefined;
  }
  if (!isObject(given)) return undefined;
  for (const [key, value] of Object.entries(given)) {
    if (value === null) continue;
    if (!isObject(taken) || !Object.hasOwn(taken, key)) return [...path, key];
    const unknownKey = unknownKeyIn(value, taken[key], [...path, key]);
    if (unknownKey !== undefined) return unknownKey;
  }
  return undefined;
};

const configError = (file: string, path: Path, message: string): CliError =>
  new CliError("invalid_config", `${file}: at ${formatPath(path)}: ${message}`, {
    exit: exit.usage,
    hint: "docs/operations.md lists all fields",
  });

export const configIn = (file: string, text: string): HostConfig => {
  const json = parse(text);
  if (E.isLeft(json)) throw configError(file, json.left.path, json.left.message);
  const config = read(ConfigCodec, json.right);
  if (E.isLeft(config)) throw configError(file, config.left.path, config.left.message);
  const unknownKey = unknownKeyIn(json.right, ConfigCodec.encode(config.right) as Json);
  if (unknownKey !== undefined) throw configError(file, unknownKey, "unknown field");
  const { public_url: url } = config.right;
  if (url !== undefined && !isSocketUrl(url))
    throw configError(file, ["public_url"], `expected a ws:// or wss:// address, found ${url}`);
  if (config.right.max_journal_mb === 0) throw configError(file, ["max_journal_mb"], "expected at least 1, found 0");
  return config.right;
};

/** Resolves paths against the folder of the configuration. */
const resolved = (config: HostConfig, folder: string): HostConfig => {
  const at = (path: string): string => resolve(folder, path);
  const { journal, blobs, keys, tools, flows, flow_tools, tls, secrets, grants, peers } = config;
  return {
    ...config,
    ...(blobs === undefined ? {} : { blobs: at(blobs) }),
    ...(keys === undefined ? {} : { keys: at(keys) }),
    ...(flows === undefined ? {} : { flows: flows.map((flow) => ({ ...flow, file: at(flow.file) })) }),
    ...(flow_tools === undefined ? {} : { flow_tools: at(flow_tools) }),
    ...(journal === undefined ? {} : { journal: isDatabase(journal) ? journal : at(journal) }),
    ...(tools === undefined ? {} : { tools: at(tools) }),
    ...(tls === undefined ? {} : { tls: { key: at(tls.key), cert: at(tls.cert) } }),
    ...(secrets === undefined ? {} : { secrets: secrets.map(at) }),
    ...(grants === undefined ? {} : { grants: grants.map((grant) => ({ ...grant, file: at(grant.file) })) }),
    ...(peers === undefined ? {} : { peers: peers.map((peer) => ({ ...peer, token_file: at(peer.token_file) })) }),
  };
};

const defaultFile = "pawl.json";

/**
 * Reads the configuration that an argument names. A module stands for its tools; without an argument `pawl.json` is
 * read, if it exists.
 */
export const configOf = (argument: string | undefined): HostConfig => {
  const file = argument ?? (existsSync(defaultFile) ? defaultFile : undefined);
  if (file === undefined) return {};
  if (!file.endsWith(".json")) return { tools: file };
  if (!existsSync(file)) throw new CliError("no_config", `there is no file ${file}`, { exit: exit.unreachable });
  return resolved(configIn(file, readFileSync(file, "utf8")), dirname(resolve(file)));
};

export const limitsOf = (limits: Limits = {}): Partial<HostLimits> =>
  Object.fromEntries(
    Object.entries(limits).map(([name, value]) => [
      name.replaceAll(/_(?<letter>[a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );

/** Returns where the journal is: a file, or a database, perhaps behind a pooler. */
export const journalPlaceOf = (
  journal: string,
  { direct, prepares }: HostConfig,
): { readonly postgres: NonNullable<OpenOptions["postgres"]> } | { readonly file: string } => {
  const pooled = direct !== undefined || prepares !== undefined;
  if (!isDatabase(journal)) {
    if (pooled) throw usageError("`direct` and `prepares` are for a journal in a database", `found ${journal}`);
    return { file: journal };
  }
  if (direct !== undefined && !isDatabase(direct))
    throw usageError(`--direct expects the address of a database, found ${direct}`, "postgres://app@db.internal/app");
  if (!pooled) return { postgres: journal };
  return {
    postgres: {
      url: journal,
      ...(direct === undefined ? {} : { direct }),
      ...(prepares === undefined ? {} : { prepares }),
    },
  };
};
