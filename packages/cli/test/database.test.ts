/** The command line over PostgreSQL: everything that it does with a file, and what a database has besides. */
import { Client } from "@pawl/wire";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setTimeout as pause } from "node:timers/promises";
import { openRuntime, sqliteJournal } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";
import { pending } from "@pawl/tool-value";
import { until } from "../../driver-node/test/until.ts";
import { hasServer, type TestServer, testServer } from "../../journal-postgres/test/server.ts";
import { shownJournal } from "../src/database.ts";
import { madeJournal, newFolder, tools } from "./fixture.ts";
import { jsonIn, pawl, type Said } from "./pawl.ts";

const toolModule = `
export const tools = [
  {
    name: "work",
    durable: true,
    execute: async (_, ctx) => {
      const seat = await ctx.run("reserve", () => "12a", { input: { to: "Lviv" } });
      const approved = await ctx.waitFor("approved");
      return [seat, approved, await ctx.run("charge", () => "paid", { input: { seat } })];
    },
  },
  { name: "quick", durable: true, execute: () => "at once" },
  { name: "guarded", durable: true, needsApproval: true, execute: () => "done" },
];
`;

describe("the address of a database", () => {
  it("is printed without its password", () => {
    expect(shownJournal("postgres://app:secret@db/app?schema=x#s")).toBe("postgres://app:***@db/app?schema=x#s");
    expect(shownJournal("postgres://app@db/app?password=secret")).toBe("postgres://app@db/app?password=***");
    expect(shownJournal("journal.db")).toBe("journal.db");
  });
});

/** Runs a command that succeeds and has nothing to complain of. */
const fine = async (...args: readonly string[]): Promise<Said> => {
  const said = await pawl(args);
  expect([args.join(" "), said.code, said.err]).toEqual([args.join(" "), 0, ""]);
  return said;
};
const call = (id: string) => [{ label: "c", tool: "quick", args: id }];

/** Lists the scopes that `pawl ls --status` prints, with what does not differ between stores. */
const rows = (said: Said) => {
  const [list] = jsonIn(said);
  const scopes = list?.["scopes"] as readonly {
    readonly scope: string;
    readonly seq: number;
    readonly status: object;
  }[];
  return scopes.map(({ scope, seq, status }) => [scope, seq, status]);
};

/** Asks a host for a call in the session `s`. */
const asked = async ({ url }: { readonly url: string }, token: string, request: string): Promise<unknown> => {
  const client = new Client({ url, token });
  const replies = await client.session("s").request(request, [{ label: "c", tool: "quick", args: {} }]);
  client.close();
  return replies[0]?.output.outcome.payload;
};

describe.runIf(hasServer)("pawl over PostgreSQL", () => {
  const folder = newFolder();
  let server: TestServer;
  let file = "";
  let schemas = 0;
  const newSchema = (): string => `${server.url}?schema=cli_${(schemas += 1)}`;
  /** A database with the sessions of the file. */
  const madeDatabase = async (): Promise<string> => {
    const database = newSchema();
    await fine("migrate", database);
    await fine("log", "import", file, "-j", database);
    return database;
  };

  beforeAll(async () => {
    server = await testServer();
    file = await madeJournal(folder);
    writeFileSync(join(folder, "tools.mjs"), toolModule);
  }, 30_000);
  afterAll(async () => await server.remove());

  it("makes the tables once, and says what to type where they are missing", async () => {
    const database = newSchema();
    const missing = await pawl(["ls", database]);
    expect(missing.code).toBe(3);
    expect(missing.err).toContain("has no tables: type `pawl migrate postgres://…`");
    expect(await fine("migrate", database)).toMatchObject({
      out: expect.stringContaining("version 2 now; it had no tables"),
    });
    expect(jsonIn(await fine("migrate", "-j", database, "--json"))).toEqual([{ journal: database, from: 2, to: 2 }]);
    expect((await fine("ls", database)).out).toBe(`no scopes in ${database}\n`);
    expect(await pawl(["migrate", "journal.db"])).toMatchObject({ code: 2 });
    expect(await pawl(["ls", database, "--blobs", "there"])).toMatchObject({ code: 2 });
    expect(await pawl(["ls", `${database}#s`])).toMatchObject({ code: 2 });
  });

  it("says that there is no server, no database, no user", async () => {
    const away = await pawl(["ls", "postgres://app:secret@127.0.0.1:1/app?connect_timeout=1"]);
    expect(away.code).toBe(3);
    expect(away.err).toContain("ECONNREFUSED");
    expect(away.err).not.toContain("secret");
    const none = await pawl(["ls", server.url.replace(/postgres$/, "nowhere")]);
    expect([none.code, none.err]).toEqual([3, expect.stringContaining("there is no such database")]);
  }, 20_000);

  it("shows, explains, exports, verifies and checks what a file shows, and goes back into a file", async () => {
    const database = await madeDatabase();
    const names = ["waiting", "parked", "done"];
    const both = async (words: (at: string) => readonly string[]): Promise<void> => {
      const [there, here] = [await fine(...words(database)), await fine(...words(file))];
      const plain = ({ out }: Said): string =>
        out
          .replaceAll(database, "J")
          .replaceAll(file, "J")
          .replaceAll("'", "")
          .replaceAll(/\(\d+ s ago\)/g, "");
      expect(plain(there)).toBe(plain(here));
    };
    for (const command of ["show", "why"]) await both((at) => [command, `${at}#waiting`]);
    for (const name of names) await both((at) => ["log", "export", `${at}#${name}`]);
    await both((at) => ["check-upgrade", `${at}#waiting`, "-t", join(folder, "tools.mjs")]);
    await both((at) => ["approve", "--journal", at]);
    for (const command of [["doctor"], ["log", "verify"]]) await both((at) => [...command, at]);
    await fine("log", "head", database);
    const ls = (at: string) => fine("ls", at, "--status", "--json");
    expect(rows(await ls(database))).toEqual(rows(await ls(file)));
    const back = join(folder, "back.db");
    await fine("log", "import", database, "-j", back);
    for (const name of names)
      expect((await fine("log", "export", `${back}#${name}`)).out).toBe(
        (await fine("log", "export", `${file}#${name}`)).out,
      );
    const exported = join(folder, "logs");
    await fine("log", "export", database, "-o", exported);
    expect(readdirSync(exported).toSorted()).toEqual(names.map((name) => `session_${name}.jsonl`).toSorted());
    expect(readFileSync(join(exported, "session_done.jsonl"), "utf8")).toBe(
      (await fine("log", "export", `${file}#done`)).out,
    );
  });

  it("decides, resolves, cancels, forks and sweeps, and a host goes on from there", async () => {
    const database = await madeDatabase();
    const key = /resolution of ([0-9a-f]+)/.exec((await fine("why", `${database}#waiting`)).out)?.[1] ?? "";
    await fine("fork", `${database}#waiting`, "--at", "3", "--into", "twin");
    await fine("resolve", `${database}#waiting`, key, "--ok", "true");
    await fine("approve", `${database}#parked`, "1");
    await fine("cancel", `${database}#twin`, "r");
    await fine("blobs", "sweep", database, "--dry-run");
    const { runtime, close } = openRuntime({ postgres: database, tools });
    const replied = async (session: string, tool: string, args: object) => {
      const replies = await (await runtime.session(session)).request("r", [{ label: "c", tool, args: args as never }]);
      return replies[0]?.output.outcome.payload;
    };
    expect(await replied("waiting", "work", {})).toEqual(["12a", true, "paid"]);
    expect(await replied("parked", "guarded", { sum: 12 })).toBe("done");
    const held = await runtime.session("held");
    void held.request("r", [{ label: "c", tool: "work", args: {} }]).catch(() => undefined); // Nobody waits for it here.
    await until(() => held.state.waits.size === 1);
    await held.runner.whenDurable();
    const owned = await pawl(["cancel", `${database}#held`, "r"]);
    expect([owned.code, owned.err]).toEqual([3, expect.stringContaining("is owned by node:")]);
    await close();
  });

  it("takes along logs whose beginning retention deleted, into a database and back into a file", async () => {
    const path = join(newFolder(), "j.db");
    const ran: string[] = [];
    const quick = defineTool({ name: "quick", durable: true, execute: (args) => (ran.push(String(args)), args) });
    const here = openRuntime({ file: path, tools: [quick], retention: { olderThanMs: 0 }, snapshotAfter: 100 });
    const session = await here.runtime.session("s");
    const stored = sqliteJournal(path);
    for (let i = 0; (await stored.segment("session:s")) === undefined; i++) {
      await session.request(`r${i}`, call(`r${i}`));
      await pause(25); // A snapshot waits for an idle moment, and retention for the next one.
    }
    await stored.close();
    await here.close();
    const done = ran.length;
    const [database, back] = [newSchema(), join(newFolder(), "back.db")];
    await fine("migrate", database);
    await fine("log", "import", path, "-j", database);
    await fine("log", "import", database, "-j", back);
    for (const at of [database, back]) await fine("doctor", at);
    const there = openRuntime({ file: back, tools: [quick] });
    const again = await there.runtime.session("s");
    const told = await again.request("r0", call("r0")).then(
      ([reply]) => reply?.output.outcome.payload,
      ({ code }: { readonly code: string }) => code,
    );
    expect(["r0", "gone"]).toContain(told); // Where retention has deleted its end, what it was is not known any more.
    expect(ran).toHaveLength(done); // The first request is known, though its line is gone.
    await again.request("new", call("new"));
    expect(ran).toHaveLength(done + 1);
    await there.close();
    const cut = join(newFolder(), "cut.jsonl");
    await fine("log", "export", `${path}#s`, "-o", cut);
    const refused = await pawl(["log", "import", cut, "-j", join(newFolder(), "other.db")]);
    expect([refused.code, refused.err]).toEqual([4, expect.stringContaining("import it from its journal")]);
  });

  it("keeps the wait tokens of a file good when its sessions go to a database, and back", async () => {
    const path = join(newFolder(), "j.db");
    const tokens: string[] = [];
    const outside = defineTool({
      name: "outside",
      execute: (_, ctx) => (tokens.push(ctx.completionKey()), pending()),
    });
    const here = openRuntime({ file: path, tools: [outside] });
    const session = await here.runtime.session("s");
    void session.request("r", [{ label: "c", tool: "outside", args: {} }]).catch(() => undefined); // Nobody waits for it here.
    await until(() => session.state.calls.rows()[0]?.phase === "pending");
    await session.runner.whenDurable();
    await here.close();
    const database = newSchema();
    await fine("migrate", database);
    await fine("log", "import", path, "-j", database);
    const back = join(newFolder(), "back.db");
    await fine("log", "import", database, "-j", back);
    await fine("resolve", `${database}#s`, tokens[0] ?? "", "--ok", '"from outside"');
    await fine("resolve", `${back}#s`, tokens[0] ?? "", "--ok", '"from outside"');
  });

  it("lists requests that a failover lost, as hosts have found them", async () => {
    const database = await madeDatabase();
    const schema = new URL(database).searchParams.get("schema");
    await server.sql(`INSERT INTO ${schema}.lost_request VALUES ('session:done', 'r7', 'submitted', 't:1:7', 7, 1)`);
    const { code, out } = await pawl(["doctor", database]);
    expect(code).toBe(1);
    expect(out).toContain("lost  session:done: request r7 was taken at event 7, and a failover lost that");
    expect(out).toContain("1 acknowledged request is lost");
    const last = jsonIn(await pawl(["doctor", database, "--json"])).at(-1);
    expect(last).toEqual({ scopes: 3, quarantined: 0, altered: 0, unread: 0, lost: 1 });
  });

  it("runs hosts that forward to each other, under a role that has no other rights than --grant gives", async () => {
    await server.sql("CREATE ROLE pawl_host LOGIN");
    const database = newSchema();
    const limited = database.replace("//pawl@", "//pawl_host@");
    const unmade = await pawl(["migrate", limited]);
    expect([unmade.code, unmade.err]).toEqual([3, expect.stringContaining("pawl migrate postgres://… --grant <role>")]);
    expect((await fine("migrate", database, "--grant", "pawl_host")).out).toContain("pawl_host may work on it");
    const stop = new AbortController();
    const hosts: Promise<Said>[] = [];
    const start = async (): Promise<{ readonly url: string; readonly token: string }> => {
      const said = Promise.withResolvers<{ readonly url: string; readonly token: string }>();
      const host = pawl(["host", join(folder, "tools.mjs"), "-j", limited, "--grant", "ann", "--json"], {
        interrupted: stop.signal,
        onOut: (text) => text.includes('"url"') && said.resolve(JSON.parse(text) as never),
      });
      hosts.push(host);
      return Promise.race([said.promise, host.then(({ err }) => Promise.reject(new Error(err)))]);
    };
    const [first, second] = [await start(), await start()];
    const other = (await fine("token", "bob", "-j", database)).out.trim();
    expect(await asked(first, first.token, "r1")).toBe("at once");
    expect(await asked(second, first.token, "r2")).toBe("at once"); // Of the first host's session, with its token.
    expect(await asked(second, other, "r3")).toBe("at once");
    expect((await fetch(`${second.url.replace("ws", "http")}/v1/ready`)).status).toBe(200);
    stop.abort();
    expect((await Promise.all(hosts)).map(({ code }) => code)).toEqual([0, 0]);
    await fine("doctor", database);
  }, 30_000);
});
