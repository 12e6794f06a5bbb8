/**
 * Wakes: an instance hears at once that a scope of its has mail, or that another instance let scopes go (LISTEN and NOTIFY).
 * Polling is the net under it: a wake that is lost costs the time until the next poll.
 *
 * A notification is a transaction of its own, after the append is acknowledged, and is not synced. Inside the append it would
 * hold a lock during the sync that all commits of the database wait for. Each instance has a channel for its mail, and all
 * share one.
 */
import { createHash } from "node:crypto";
import type { Append, Wakes as Heard } from "@pawl/runtime/driver";
import { type Database, type Statement, named, nameIn, stored } from "./database.ts";
import type { Scopes } from "./scopes.ts";

/** Instances that hear of the same begin within this time, each at a moment of its own, so that they do not all look at once. */
const spreadMs = 250;

/** A scope that is due within this time is worth a look. */
const soonMs = 1000;
/** Releases within this time are told together. */
const togetherMs = 20;

/** Names the channels of a schema: they are the database's. */
const channelsOf = (schema: string): string =>
  `pawl_${createHash("sha256").update(schema).digest("hex").slice(0, 16)}_`;

/** Said on an instance's own channel: places in queues are free. No stored name begins so. */
const placesAreFree = "\u0001q";

/** The number of nobody: the channel that all share. */
const everybody = 0;

const unsynced = "quiet AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS set)";

const statements = (s: string): { readonly mail: Statement; readonly look: Statement; readonly places: Statement } => ({
  mail: named(
    "notify_mail",
    `WITH ${unsynced}, names AS (SELECT value AS name FROM json_array_elements_text($2::json))
     SELECT pg_notify($1::text || x.owner::text, CASE WHEN octet_length(x.name) < 7000 THEN x.name ELSE '' END)
     FROM quiet, names n JOIN ${s}.scope x ON x.name = n.name WHERE x.owner <> ${everybody}`,
  ),
  places: named(
    "notify_places",
    `WITH ${unsynced} SELECT pg_notify($1::text || value, $3) FROM quiet, json_array_elements_text($2::json)`,
  ),
  look: named("notify_look", `WITH ${unsynced} SELECT pg_notify($1::text || '${everybody}', '') FROM quiet`),
});

export class Wakes {
  readonly #database: Database;
  readonly #scopes: Scopes;
  readonly #sql: ReturnType<typeof statements>;
  readonly #channels: string;
  readonly #connected: () => void;
  readonly #heard = new Map<string, Heard>();
  /** Ends listening for an instance of this number. */
  readonly #listening = new Map<string, { readonly id: number; readonly stop: () => void }>();
  #mailed = new Set<string>();
  #look: NodeJS.Timeout | undefined;
  #released: NodeJS.Timeout | undefined;

  constructor(database: Database, scopes: Scopes, schema: string, connected: () => void) {
    this.#connected = connected;
    this.#database = database;
    this.#scopes = scopes;
    this.#sql = statements(schema);
    this.#channels = channelsOf(schema);
  }

  /** Listens for an instance once it has joined. */
  listen(instance: string, heard: Heard): () => void {
    this.#heard.set(instance, heard);
    return () => {
      this.#heard.delete(instance);
      this.#listening.get(instance)?.stop();
      this.#listening.delete(instance);
    };
  }

  /** Takes note of the number under which an instance has joined. */
  joined(instance: string, id: number): void {
    const { listen } = this.#database;
    const before = this.#listening.get(instance);
    if (listen === undefined || !this.#heard.has(instance) || before?.id === id) return;
    before?.stop();
    const own = `${this.#channels}${id}`;
    const stop = listen([own, `${this.#channels}${everybody}`], {
      heard: (channel, said) => {
        if (channel === own && said === placesAreFree) this.#heard.get(instance)?.places?.();
        else if (channel === own && said !== "") this.#heard.get(instance)?.mail(nameIn({ said }, "said"));
        else this.#lookSoon();
      },
      connected: () => {
        this.#lookSoon(); // Wakes were missed until now.
        this.#connected();
      },
    });
    this.#listening.set(instance, { id, stop });
  }

  #lookSoon(): void {
    this.#look ??= setTimeout(() => {
      this.#look = undefined;
      for (const { look } of this.#heard.values()) look();
    }, Math.random() * spreadMs);
  }

  /** Tells the owners of the scopes that these appends sent messages to. */
  sent(appends: readonly Append[]): void {
    if (this.#database.listen === undefined) return;
    const isFirst = this.#mailed.size === 0;
    for (const { messages } of appends)
      for (const { to } of messages) if (this.#scopes.claimOf(to) === undefined) this.#mailed.add(to);
    if (isFirst && this.#mailed.size > 0) setImmediate(() => this.#tellMailed());
  }

  #tellMailed(): void {
    const names = [...this.#mailed].map(stored);
    this.#mailed = new Set();
    void this.#tell(this.#sql.mail, [this.#channels, JSON.stringify(names)]);
  }

  /** Tells instances, by their numbers, that places in queues are free for their calls. */
  placesFree(instances: readonly number[]): void {
    if (this.#database.listen === undefined || instances.length === 0) return;
    void this.#tell(this.#sql.places, [this.#channels, JSON.stringify(instances.map(String)), placesAreFree]);
  }

  /** Tells all instances that scopes are free. */
  async letGo(): Promise<void> {
    if (this.#database.listen !== undefined) await this.#tell(this.#sql.look, [this.#channels]);
  }

  /** Tells all instances that a scope is free which is due then. A host that drains releases many: they are told together. */
  released(dueAt: number): void {
    if (this.#database.listen === undefined || dueAt > Date.now() + soonMs) return;
    this.#released ??= setTimeout(() => {
      this.#released = undefined;
      void this.letGo();
    }, togetherMs);
  }

  async #tell(statement: Statement, values: readonly string[]): Promise<void> {
    await this.#database.query(statement, values).catch(() => undefined); // A wake that is lost costs a poll.
  }

  close(): void {
    clearTimeout(this.#look);
    clearTimeout(this.#released);
    for (const { stop } of this.#listening.values()) stop();
    this.#listening.clear();
  }
}
