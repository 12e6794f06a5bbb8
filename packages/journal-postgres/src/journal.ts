/** Puts the journal together from its parts. */
import type { AttachmentStore, Journal } from "@pawl/runtime";
import type { Roots } from "@pawl/runtime/driver";
import { Acknowledged, type LostRequest } from "./acknowledged.ts";
import { Appender } from "./append.ts";
import { attachments, blobs } from "./blob.ts";
import { dueClaims } from "./claim-due.ts";
import { type Database, type Now, prepared } from "./database.ts";
import { moves } from "./move.ts";
import { ownership } from "./ownership.ts";
import { queries } from "./query.ts";
import { queues } from "./queue.ts";
import { retention } from "./retention.ts";
import { SharedRoots } from "./root.ts";
import { checkVersion, checkedSchema, grant, migrate } from "./schema.ts";
import { Scopes } from "./scopes.ts";
import { type ServerOptions, serverDatabase } from "./server.ts";
import { Wakes } from "./wake.ts";

export interface JournalOptions {
  /** The schema that holds the tables, if the address does not name it by `?schema=`. Default: `pawl`. */
  readonly schema?: string;
  /** Makes the tables at the first use. Turn it off where the role may not: `pawl migrate` makes them. Default: true. */
  readonly migrates?: boolean;
  /** The clock of leases, in place of the database's: for tests. */
  readonly now?: () => number;
}

export interface PostgresJournal extends Journal {
  /** The secrets that sign wait tokens. They are there once the first scope is claimed. */
  readonly roots: Roots;
  readonly attachments: AttachmentStore;
  /** Connects, and throws where the database cannot be used. Without it the first use does so. */
  readonly connect: () => Promise<void>;
  /** Makes the tables, or brings them to the newest version, and gives roles the rights that a host needs. */
  readonly migrate: (grants?: readonly string[]) => Promise<{ readonly from: number; readonly to: number }>;
  /** Lists requests that clients were told of and that a failover lost, as hosts have found them. */
  readonly lostRequests: () => Promise<readonly LostRequest[]>;
  /** Takes over the secrets of another journal, so that the wait tokens which they signed stay good. They sign no more. */
  readonly adoptRoots: (roots: Roots) => Promise<void>;
  /** Resolves once all work is done and the connections are closed. */
  readonly close: () => Promise<void>;
}

/** Makes a journal over any database that runs PostgreSQL's SQL. */
export const journalOver = (
  database: Database,
  { schema: named = "pawl", migrates = true, now: clock }: JournalOptions = {},
): PostgresJournal => {
  const schema = checkedSchema(named);
  const now: Now = () => clock?.() ?? null;
  const roots = new SharedRoots();
  const at = prepared(database, async () => {
    await database.check();
    await (migrates ? migrate(database, schema) : checkVersion(database, schema));
    await roots.load(database, schema);
  });
  const scopes = new Scopes(at, schema);
  const acknowledged = new Acknowledged(at, schema);
  const wakes = new Wakes(at, scopes, schema, () => void acknowledged.look());
  const appender = new Appender(at, { scopes, wakes, acknowledged }, schema);
  return {
    roots,
    attachments: attachments(at, schema),
    blobs: blobs(at, schema, now),
    moves: moves(at, scopes, schema),
    queues: queues(at, wakes, schema, now),
    claimDue: dueClaims(at, scopes, schema, now),
    ...ownership(at, { scopes, wakes }, schema, now),
    ...queries(at, scopes, schema, now),
    ...retention(at, scopes, schema),
    ...(database.listen !== undefined && { listen: (...of) => wakes.listen(...of) }),
    appendAll: (appends) => appender.appendAll(appends),
    connect: async () => void (await roots.load(at, schema)),
    migrate: async (grants = []) => {
      const versions = await migrate(database, schema);
      for (const role of grants) await grant(database, schema, role);
      return versions;
    },
    lostRequests: () => acknowledged.lost(),
    adoptRoots: async ({ newest, older = [] }) => {
      await roots.adopt(at, schema, [newest, ...older]);
    },
    close: async () => {
      wakes.close();
      await scopes.close();
      await database.close();
    },
  };
};

export interface PostgresOptions extends JournalOptions, ServerOptions {}

/** Takes the schema out of an address, which the client of the database does not know. */
const addressed = (options: PostgresOptions): PostgresOptions => {
  if (!URL.canParse(options.url)) return options;
  const url = new URL(options.url);
  const schema = url.searchParams.get("schema");
  if (schema === null) return options;
  url.searchParams.delete("schema");
  return { schema, ...options, url: url.href };
};

/** Opens a journal on a PostgreSQL server. The first use connects. */
export const postgresJournal = (options: PostgresOptions): PostgresJournal => {
  const told = addressed(options);
  return journalOver(serverDatabase(told), told);
};
