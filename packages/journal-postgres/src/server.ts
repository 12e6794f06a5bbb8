/**
 * The database over a network, on `pg`.
 *
 * Each statement has a deadline, and is sent again on another connection while the server is away: for `patienceMs` it is
 * waited for, and nothing is lost by it. The lease has a connection of its own, so that a slow commit cannot hold it up.
 */
import { Pool, type PoolConfig } from "pg";
import type { Database, Row, Statement, Value } from "./database.ts";
import { PostgresError, isTransient, postgresError } from "./error.ts";
import { listening } from "./listener.ts";
import { setTimeout as sleep } from "node:timers/promises";

export interface ServerOptions {
  /** The database, as `pg` takes it: `postgres://user:password@host/database?sslmode=verify-full`. */
  readonly url: string;
  /**
   * The database itself, where `url` is a pooler's that gives each transaction another connection, such as PgBouncer: for the lease, and
   * for wakes. No settings are made over the pooler, where others would get them: make them for the role.
   */
  readonly direct?: string;
  /** Prepares each statement once for each connection. Turn it off for PgBouncer before 1.21. Default: true. */
  readonly prepares?: boolean;
  /** More settings of `pg`, such as `ssl`. */
  readonly client?: { readonly ssl?: boolean | object; readonly [setting: string]: unknown };
  /** The connections for commits and reads. Default: 4. */
  readonly lanes?: number;
  /** How long a statement may take. Default: 5,000. */
  readonly deadlineMs?: number;
  /** How long a server that is away is waited for. Default: 8,000. */
  readonly patienceMs?: number;
  /** Accepts a server that answers before it has stored: after its crash the newest appends are gone. */
  readonly acceptsLoss?: boolean;
}

const defaults = { prepares: true, lanes: 4, deadlineMs: 5000, patienceMs: 8000 };

/** A row that somebody holds costs its group this long. */
const lockMs = 200;
/** The pauses between tries: the first, and the longest. */
const pauses = { firstMs: 20, longestMs: 500 };
/** The deadline of the lease's statements, and how long they are tried. */
const leaseMs = 1000;

/**
 * Plans once for all parameters, and by index: the tables may have been empty when a statement was prepared. A scan that is
 * off counts as so costly that PostgreSQL would compile the statement each time, for 130 ms.
 */
const settings = (deadlineMs: number): string =>
  [
    `SET statement_timeout = ${deadlineMs}`,
    `SET lock_timeout = ${lockMs}`,
    "SET plan_cache_mode = force_generic_plan",
    "SET jit = off",
    "SET enable_seqscan = off",
    "SET enable_hashjoin = off",
    "SET enable_mergejoin = off",
    "SET client_min_messages = warning",
  ].join(";");

const promises: Statement = {
  name: "pawl_promises",
  text: `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
    current_setting('synchronous_standby_names') AS standbys`,
};

/** Throws where the server acknowledges what its crash would lose. */
const checkPromises = (row: Row | undefined): void => {
  const commit = String(row?.["commit"]);
  const isWeak = commit === "off" || (commit === "local" && row?.["standbys"] !== "");
  const weak = row?.["fsync"] === "off" ? "fsync = off" : isWeak ? `synchronous_commit = ${commit}` : undefined;
  if (weak === undefined) return;
  const cost = "the server acknowledges appends that its crash would lose";
  throw new PostgresError("not_durable", `${weak}: ${cost}; turn it on, or accept the loss with \`acceptsLoss\``);
};

/** How a pool of connections is used. */
interface LaneOptions {
  readonly deadlineMs: number;
  readonly patienceMs: number;
  readonly prepares: boolean;
  /** Makes settings on each connection, which nobody else uses. */
  readonly isOwn: boolean;
}

class Lanes {
  readonly #pool: Pool;
  readonly #prepares: boolean;
  readonly #patienceMs: number;
  #isClosed = false;

  constructor(config: PoolConfig, { deadlineMs, patienceMs, prepares, isOwn }: LaneOptions) {
    this.#patienceMs = patienceMs;
    this.#prepares = prepares;
    this.#pool = new Pool({
      ...config,
      keepAlive: true,
      connectionTimeoutMillis: deadlineMs,
      query_timeout: deadlineMs,
      application_name: config.application_name ?? "pawl",
      ...(isOwn && { onConnect: (client) => client.query(settings(deadlineMs)).then(() => undefined) }),
    });
    // A connection that breaks while it is idle leaves the pool; the next statement opens another.
    this.#pool.on("error", () => undefined);
  }

  async query({ name, text }: Statement, values: readonly Value[]): Promise<readonly Row[]> {
    return this.#retried(async () => {
      const asked = { text, values: [...values], ...(this.#prepares && { name }) };
      const { rows } = await this.#pool.query<Record<string, unknown>>(asked);
      return rows;
    });
  }

  async script(text: string): Promise<void> {
    await this.#pool.query(text);
  }

  /** Tries again with growing pauses, each of a random length, so that hosts do not come back all at once. */
  async #retried<A>(work: () => Promise<A>): Promise<A> {
    const until = performance.now() + this.#patienceMs;
    for (let pause = pauses.firstMs; ; pause = Math.min(2 * pause, pauses.longestMs)) {
      if (this.#isClosed) throw new PostgresError("closed", "this journal is closed");
      try {
        return await work();
      } catch (thrown) {
        if (this.#isClosed || !isTransient(thrown) || performance.now() + pause > until) throw postgresError(thrown);
      }
      await sleep(pause * (0.5 + Math.random()));
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#pool.end();
  }
}

/** Connects to a server with the first statement. */
export const serverDatabase = (options: ServerOptions): Database => {
  const { url, direct = url, client, acceptsLoss = false } = options;
  const { prepares, lanes, deadlineMs, patienceMs } = { ...defaults, ...options };
  const isOwn = direct === url;
  const config = { ...client, connectionString: url };
  const itself = { ...config, connectionString: direct };
  const listener = { ...itself, keepAlive: true, connectionTimeoutMillis: deadlineMs, application_name: "pawl listen" };
  const work = new Lanes({ ...config, max: lanes }, { deadlineMs, patienceMs, prepares, isOwn });
  const ofLease = { deadlineMs: Math.min(leaseMs, deadlineMs), patienceMs: leaseMs, prepares: true, isOwn: true };
  const lease = new Lanes({ ...itself, max: 1 }, ofLease);
  return {
    query: (statement, values) => work.query(statement, values),
    lease: (statement, values) => lease.query(statement, values),
    script: (text) => work.script(text),
    listen: (channels, on) => listening(listener, channels, on),
    check: async () => {
      if (acceptsLoss) return;
      const [row] = await work.query(promises, []);
      checkPromises(row);
    },
    close: async () => {
      await Promise.all([work.close(), lease.close()]);
    },
  };
};
