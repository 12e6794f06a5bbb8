/** `@pawl/journal-postgres/pglite`: a database in this process, for tests without a server. */
import { PGlite } from "@electric-sql/pglite";
import type { Database, Row } from "./database.ts";
import { PostgresError, postgresError } from "./error.ts";

/** Opens a database in memory, or in a folder. */
export const pgliteDatabase = (folder?: string): Database => {
  const opened = new PGlite(folder ?? "memory://");
  let isClosed = false;
  const run = async <A>(work: () => Promise<A>): Promise<A> => {
    if (isClosed) throw new PostgresError("closed", "this journal is closed");
    try {
      return await work();
    } catch (thrown) {
      throw postgresError(thrown);
    }
  };
  const query: Database["query"] = ({ text }, values) =>
    run(async () => (await opened.query<Row>(text, [...values])).rows);
  return {
    query,
    lease: query,
    script: (text) => run(async () => void (await opened.exec(text))),
    check: async () => undefined,
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await opened.close();
    },
  };
};
