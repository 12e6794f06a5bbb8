/** Wakes: hosts hear of mail and of scopes that are free, and do not wait for the next poll. */
import { setTimeout as pause } from "node:timers/promises";
import type { Append } from "@pawl/runtime/driver";
import { defineTool } from "@pawl/runtime";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type PostgresJournal, postgresJournal } from "../src/index.ts";
import { openRuntime } from "../../driver-node/src/index.ts";
import { until } from "../../driver-node/test/until.ts";
import { hasServer, type TestServer, testServer } from "./server.ts";

const letter = (scope: string, to: string): Append => ({
  scope,
  epoch: 1,
  expectedSeq: 1,
  appendId: "1:1",
  lines: [{ seq: 1, line: '{"seq":1}\n' }],
  finished: [],
  wakeAt: undefined,
  protocol: 2,
  messages: [{ to, kind: "message", link: 1, number: 1, text: "hello" }],
  received: [],
});

describe.runIf(hasServer)("wakes of a journal on PostgreSQL", () => {
  let server: TestServer;
  let schemas = 0;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => void (server = await testServer()));
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });
  afterAll(async () => await server.remove());

  const newSchema = (): string => `wake_${(schemas += 1)}`;
  /** A host's journal that writes down what it hears. */
  const hostIn = async (schema: string, instance: string) => {
    const journal: PostgresJournal = postgresJournal({ url: server.url, schema });
    const heard: string[] = [];
    const stop = journal.listen?.(instance, { mail: (scope) => heard.push(scope), look: () => heard.push("look") });
    await journal.join(instance, { ttlMs: 60_000, protocol: 2 });
    ends.push(async () => {
      stop?.();
      await journal.close();
    });
    await until(() => heard.includes("look")); // It listens from now on.
    heard.length = 0;
    return { journal, heard };
  };

  it("tells the owner of a scope that it has mail, and nobody else; a name with U+0000 too", async () => {
    const schema = newSchema();
    const [a, b, c] = [await hostIn(schema, "a"), await hostIn(schema, "b"), await hostIn(schema, "c")];
    const target = "session:t\u0000\u0001";
    await a.journal.claim("session:s", "a", 2);
    await b.journal.claim(target, "b", 2);
    expect(await a.journal.appendAll([letter("session:s", target)])).toEqual([{ type: "ok" }]);
    await until(() => b.heard.length > 0);
    await pause(50);
    expect([a.heard, b.heard, c.heard]).toEqual([[], [target], []]);
  });

  it("tells all when an instance leaves, and when a scope that is due is released", async () => {
    const schema = newSchema();
    const [a, b] = [await hostIn(schema, "a"), await hostIn(schema, "b")];
    await a.journal.claim("session:s", "a", 2);
    await a.journal.appendAll([{ ...letter("session:s", "session:s"), messages: [], wakeAt: 0 }]);
    await a.journal.release("session:s", "a");
    await until(() => b.heard.includes("look"));
    b.heard.length = 0;
    await a.journal.leave("a");
    await until(() => b.heard.includes("look"));
  });

  it("listens again when its connection was cut, and has the instance look for what it missed", async () => {
    const { heard } = await hostIn(newSchema(), "a");
    await server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pawl listen'");
    await until(() => heard.includes("look"));
  });

  it("lets hosts go on at once with the work of one that closes, long before they would look by themselves", async () => {
    const database = `${server.url}?schema=${newSchema()}`;
    const ran: string[] = [];
    const tool = (host: string) =>
      defineTool({
        name: "works",
        durable: true,
        execute: async (_, ctx) => {
          await ctx.run("one", () => ran.push(`${host} one`));
          await ctx.sleep(300);
          await ctx.run("two", () => ran.push(`${host} two`));
        },
      });
    const start = (host: string) => {
      const open = openRuntime({
        postgres: database,
        tools: [tool(host)],
        lease: { ttlMs: 600_000 },
        log: () => undefined,
      });
      ends.push(open.close);
      return open;
    };
    const [a, b] = [start("a"), start("b")];
    const session = await a.runtime.session("s");
    await until(() => b.runtime.readiness === "ready");
    void session.request("r", [{ label: "c", tool: "works", args: {} }]).catch(() => undefined); // Its host closes.
    await until(() => ran.length === 1);
    await a.close();
    await until(() => ran.length === 2);
    expect(ran).toEqual(["a one", "b two"]);
  });
});
