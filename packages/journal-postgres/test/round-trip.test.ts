/** Counts the round trips to the database until a call of one step is answered: over a network they are what it costs. */
import { Runtime, defineTool } from "@pawl/runtime";
import { afterAll, describe, expect, it } from "vitest";
import { nodePlatform } from "../../driver-node/src/platform.ts";
import { type Database, type PostgresJournal, journalOver } from "../src/index.ts";
import { pgliteDatabase } from "../src/pglite.ts";

const database = pgliteDatabase();
afterAll(() => database.close());

/** A journal that counts what its callers wait for; leases and later wake times are told beside them. */
const counted = (schema: string): { readonly journal: PostgresJournal; readonly trips: string[] } => {
  const trips: string[] = [];
  const query: Database["query"] = (statement, values) => {
    if (!["pawl_rest", "pawl_mailed", "pawl_due", "pawl_inbox"].includes(statement.name)) trips.push(statement.name);
    return database.query(statement, values);
  };
  const journal = journalOver({ ...database, query, close: async () => undefined }, { schema });
  return { journal, trips };
};

const packs = defineTool({
  name: "packs",
  durable: true,
  execute: async (_, ctx) => ctx.run("pack", () => "packed"),
});

const roots = { newest: { kid: "k1", secret: new Uint8Array(32).fill(7) } };

const hostOn = async (schema: string, instance: string) => {
  const { journal, trips } = counted(schema);
  const linger = { ms: 1, most: 10 };
  const runtime = new Runtime({ journal, platform: nodePlatform, tools: [packs], instance, roots, linger });
  await runtime.session("warm");
  return { runtime, trips };
};

let requests = 0;
type Host = Awaited<ReturnType<typeof hostOn>>;

/** Makes one call, and returns the trips until its reply. */
const tripsOf = async ({ runtime, trips }: Host, name: string): Promise<readonly string[]> => {
  trips.length = 0;
  const session = await runtime.session(name);
  await session.request(`r${(requests += 1)}`, [{ label: "c", tool: "packs", args: {} }]);
  return [...trips];
};

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 150));

describe("a call of one step", () => {
  it("takes two round trips in memory, three where its session was evicted, and four where it is new or another host's", async () => {
    const [one, two] = [await hostOn("trips", "one"), await hostOn("trips", "two")];
    expect((await tripsOf(one, "s")).length).toBeLessThanOrEqual(4);
    expect(await tripsOf(one, "s")).toHaveLength(2);
    await settled();
    expect(await tripsOf(one, "s")).toHaveLength(3);
    await one.runtime.close();
    expect((await tripsOf(two, "s")).length).toBeLessThanOrEqual(4);
    await two.runtime.close();
  });
});
