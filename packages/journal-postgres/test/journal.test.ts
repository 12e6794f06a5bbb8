import type { Journal } from "@pawl/runtime";
import { blobChecks, journalChecks, limitChecks, moveChecks } from "@pawl/testkit";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type PostgresJournal, journalOver, postgresJournal } from "../src/index.ts";
import { pgliteDatabase } from "../src/pglite.ts";
import { type TestServer, hasServer, testServer } from "./server.ts";

let server: TestServer | undefined;
let schemas = 0;
beforeAll(async () => {
  if (hasServer) server = await testServer(["fsync=off"]);
});
afterAll(async () => await server?.remove());

/** A schema of its own for each check; each `open` is one more host. */
const rigOn = (open: (schema: string, now: () => number) => PostgresJournal) => {
  const journals: PostgresJournal[] = [];
  const schema = `check_${(schemas += 1)}`;
  let now = 0;
  return {
    open: async (): Promise<PostgresJournal> => {
      const journal = open(schema, () => now);
      journals.push(journal);
      return journal;
    },
    pass: (ms: number): void => void (now += ms),
    close: async (): Promise<void> => {
      await Promise.all(journals.map((journal) => journal.close()));
    },
  };
};

/** A database has no quota: that a full disk is reported is seen in `failure.test.ts`. */
const checks = [...journalChecks, ...moveChecks, ...limitChecks].filter(({ name }) => !name.includes("does not fit"));

const onServer = (schema: string, now: () => number): PostgresJournal =>
  postgresJournal({ url: server?.url ?? "", schema, now, lanes: 2, acceptsLoss: true });

describe.runIf(hasServer)("a journal on PostgreSQL", () => {
  for (const { name, run } of checks)
    it(name, async () => {
      const rig = rigOn(onServer);
      await run(rig);
      await rig.close();
    });
  for (const { name, run } of blobChecks)
    it(`keeps blobs: ${name}`, async () => {
      const rig = rigOn(onServer);
      await run({ ...rig, open: async () => (await rig.open()).blobs as NonNullable<Journal["blobs"]> });
      await rig.close();
    });
});

describe("a journal on PGlite", () => {
  const database = pgliteDatabase();
  afterAll(() => database.close());
  const shared = { ...database, close: async () => undefined };
  for (const { name, run } of checks)
    it(name, async () => {
      const rig = rigOn((schema, now) => journalOver(shared, { schema, now }));
      await run(rig);
      await rig.close();
    });
});
