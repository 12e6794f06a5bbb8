/** Options of a server: what it is called, who may use it, and how each tool answers. */
import type { ClientCapabilities, McpServer } from "@modelcontextprotocol/server";
import { type Log, Refused, type Runtime } from "@pawl/runtime";
import { unknownKeyIn } from "@pawl/runtime/driver";

/** Rights of a caller, as tokens of a host name them. */
export type CallerRight = "call" | "approve" | "observe";

/** The sender of a request. Without `scopes` all sessions are open to it, and without `rights` it has them all. */
export interface Caller {
  /** The principal, as the log records it. */
  readonly by: string;
  /** Prefixes of scope names: `session:team-1/` covers the sessions of a team. */
  readonly scopes?: readonly string[];
  /** One that may not `approve` is not asked: its calls wait for another person. */
  readonly rights?: readonly string[];
}

/** The way in which calls of one tool answer. */
export interface ToolPolicy {
  /**
   * `auto`: at once if a call ends within `immediateMs`, as a task after that. `always`: as a task from the beginning;
   * `required`: that too, and clients without tasks are refused; `never`: the client waits. Default: `auto`.
   */
  readonly task?: "auto" | "always" | "required" | "never";
  /** Questions of a call are asked by its task, or by the call itself before there is a task. Default: `task`. */
  readonly ask?: "task" | "call";
  /** Capabilities that a client must have declared, or it is refused before anything is recorded. */
  readonly needs?: ClientCapabilities;
}

/** An authorization server's word on who may come in, as RFC 9728 publishes it. */
export interface ProtectedResource {
  /** The address of the server, as tokens are issued for it. */
  readonly url: string;
  readonly authorizationServers: readonly string[];
  readonly scopes?: readonly string[];
}

export interface McpServerOptions {
  readonly name?: string;
  readonly version?: string;
  readonly title?: string;
  /** Tells a model how the tools are used. */
  readonly instructions?: string;
  /** A call that ends within this time is answered at once, also where the client has tasks. Default: 2,000. */
  readonly immediateMs?: number;
  /** The interval at which clients are asked to poll. Default: 1,000. */
  readonly pollMs?: number;
  /** How each tool answers, by its name. */
  readonly tools?: { readonly [name: string]: ToolPolicy };
  /** Says whether a caller is shown a tool, and may call it. Default: every tool that models see. */
  readonly show?: (tool: string, caller: Caller) => boolean;
  /** The session in which a caller's tools run. Default: `mcp/{by}`, or the one that its `scopes` name. */
  readonly session?: (caller: Caller) => string;
  /** Reads a bearer token. Without it everybody who reaches the server is `local`: keep it on loopback. */
  readonly verify?: (token: string, request: Request) => Promise<Caller | undefined> | Caller | undefined;
  /** Published to clients that come without a token, so that they find where to get one. */
  readonly resource?: ProtectedResource;
  /** Names under which the server is reached. Default: those of loopback; with `verify`, any. */
  readonly hosts?: readonly string[];
  /** Names of the pages that may send requests. Default: those of loopback. */
  readonly origins?: readonly string[];
  /** Size of a request, at most. Default: 4 MiB. */
  readonly maxBytes?: number;
  /** Requests that are under way at a time, at most. Default: 1,024. */
  readonly maxInFlight?: number;
  /** Adds prompts and resources of the program's own. */
  readonly extend?: (server: McpServer) => void;
  /** Sends a request on to the instance that owns its session. Default: to the same path at the owner's address. */
  readonly forward?: (address: string, request: Request) => Promise<Response>;
  readonly log?: Log;
}

const known: { readonly [F in keyof Required<McpServerOptions>]: 1 } = {
  name: 1,
  version: 1,
  title: 1,
  instructions: 1,
  immediateMs: 1,
  pollMs: 1,
  tools: 1,
  show: 1,
  session: 1,
  verify: 1,
  resource: 1,
  hosts: 1,
  origins: 1,
  maxBytes: 1,
  maxInFlight: 1,
  extend: 1,
  forward: 1,
  log: 1,
};

const defaults = {
  name: "pawl",
  version: "0.1.0",
  immediateMs: 2000,
  pollMs: 1000,
  maxBytes: 4 * 1024 * 1024,
  maxInFlight: 1024,
} as const;

export type ServerSettings = McpServerOptions & {
  readonly [K in keyof typeof defaults]: NonNullable<McpServerOptions[K]>;
};

/** Refuses unknown fields and numbers that mean nothing, and fills in defaults. */
export const settingsOf = (options: McpServerOptions): ServerSettings => {
  const unknown = unknownKeyIn("", options, known);
  if (unknown !== undefined) throw new Refused("invalid_option", `an MCP server: ${unknown}`);
  const settings = { ...defaults, ...options };
  for (const name of ["immediateMs", "pollMs", "maxBytes", "maxInFlight"] as const) {
    const found = settings[name];
    const least = name === "immediateMs" ? 0 : 1;
    if (!Number.isSafeInteger(found) || found < least)
      throw new Refused("invalid_option", `${name}: expected a whole number from ${least}, found ${String(found)}`);
  }
  return settings;
};

/** Returns why a caller may not do something in a scope; undefined where it may. */
export const missingRight = ({ by, scopes, rights }: Caller, right: CallerRight, scope: string): string | undefined => {
  if (rights !== undefined && !rights.includes(right)) return `\`${by}\` has no right to ${right}`;
  if (scopes === undefined || scopes.some((prefix) => scope.startsWith(prefix))) return undefined;
  return `\`${by}\` has no right in scope ${scope}`;
};

const sessionPrefix = "session:";

/** Names the session in which a caller's tools run. */
export const sessionOf = ({ session }: ServerSettings, caller: Caller): string => {
  if (session !== undefined) return session(caller);
  const own = caller.scopes?.find((prefix) => prefix.startsWith(sessionPrefix))?.slice(sessionPrefix.length) ?? "";
  return own === "" ? `mcp/${caller.by}` : `${own.replace(/\/$/, "")}/mcp/${caller.by}`;
};

/** The tools of a runtime that a caller is shown. */
export const shownTo = ({ registry }: Runtime, { show }: ServerSettings, caller: Caller) =>
  registry.shown().filter(({ name }) => show?.(name, caller) ?? true);
