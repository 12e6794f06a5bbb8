/** Hosts behind PgBouncer in transaction mode, where each transaction gets another connection. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync, chmodSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { journalChecks } from "@pawl/testkit";
import { defineTool } from "@pawl/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isThere, pgbouncer } from "../../../test/program.ts";
import { openRuntime } from "../../driver-node/src/index.ts";
import { until } from "../../driver-node/test/until.ts";
import { type PostgresJournal, postgresJournal } from "../src/index.ts";
import { asUser, freePort, hasServer, type TestServer, testServer } from "./server.ts";

interface Pooler {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });

/** Starts PgBouncer before a server, with few connections, so that they change hands all the time. */
const poolerOf = async (server: TestServer): Promise<Pooler> => {
  const [folder, port] = [mkdtempSync(join(tmpdir(), "pawl-pooler-")), await freePort()];
  chmodSync(folder, 0o755);
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(
    file,
    `[databases]
postgres = host=127.0.0.1 port=${server.port} dbname=postgres user=pawl
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
`,
  );
  const [command, args] = asUser(pgbouncer.path, ["-q", file]);
  const child: ChildProcess = spawn(command, [...args], { cwd: folder, stdio: "ignore" });
  await until(() => answers(port), 20);
  return {
    url: `postgres://pawl@127.0.0.1:${port}/postgres`,
    stop: async () => {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
};

describe.runIf(hasServer && isThere(pgbouncer))("a journal behind PgBouncer in transaction mode", () => {
  let server: TestServer;
  let pooler: Pooler;
  let schemas = 0;
  beforeAll(async () => {
    server = await testServer();
    pooler = await poolerOf(server);
  });
  afterAll(async () => {
    await pooler.stop();
    await server.remove();
  });
  const through = (schema: string) => ({ url: pooler.url, direct: server.url, prepares: false, schema });

  it("keeps what the port asks of claims, appends and mail", async () => {
    const wanted = /claim|append|fence|message|mail|lease/i;
    for (const { run, name } of journalChecks.filter(
      (check) => wanted.test(check.name) && !check.name.includes("does not fit"),
    )) {
      const schema = `pooler_${(schemas += 1)}`;
      const journals: PostgresJournal[] = [];
      let now = 0;
      await run({
        open: async () => {
          const journal = postgresJournal({ ...through(schema), now: () => now });
          journals.push(journal);
          return journal;
        },
        pass: (ms) => void (now += ms),
      }).catch((thrown: unknown) => {
        throw new Error(name, { cause: thrown });
      });
      await Promise.all(journals.map((journal) => journal.close()));
    }
  }, 60_000);

  it("leaves no setting and no statement behind on connections that others get", async () => {
    const journal = postgresJournal(through(`pooler_${(schemas += 1)}`));
    await journal.join("a", { ttlMs: 60_000, protocol: 2 });
    for (let n = 0; n < 20; n++) await journal.claim(`session:${n}`, "a", 2);
    await journal.close();
    for (let n = 0; n < 10; n++) {
      const client = new Client({ connectionString: pooler.url });
      await client.connect();
      const { rows } = await client.query<Record<string, unknown>>(
        `SELECT current_setting('statement_timeout') AS timeout, current_setting('enable_seqscan') AS scan,
           (SELECT count(*)::int FROM pg_prepared_statements) AS statements`,
      );
      expect(rows).toEqual([{ timeout: "0", scan: "on", statements: 0 }]);
      await client.end();
    }
  });

  it("serves two hosts, which hear of each other past the pooler", async () => {
    const postgres = through(`pooler_${(schemas += 1)}`);
    const ran: string[] = [];
    const tool = (host: string) =>
      defineTool({
        name: "works",
        durable: true,
        execute: async (_, ctx) => {
          await ctx.run("one", () => ran.push(`${host} one`));
          await ctx.sleep(200);
          return ctx.run("two", () => ran.push(`${host} two`));
        },
      });
    const start = (host: string) =>
      openRuntime({ postgres, tools: [tool(host)], lease: { ttlMs: 600_000 }, log: () => undefined });
    const [a, b] = [start("a"), start("b")];
    const session = await a.runtime.session("s");
    await until(() => b.runtime.readiness === "ready");
    void session.request("r", [{ label: "c", tool: "works", args: {} }]).catch(() => undefined); // Its host closes.
    await until(() => ran.length === 1);
    await a.close();
    await until(() => ran.length === 2);
    expect(ran).toEqual(["a one", "b two"]);
    await b.close();
  });
});
