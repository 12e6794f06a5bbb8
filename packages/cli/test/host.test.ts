import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client } from "@pawl/wire";
import { madeJournal, newFolder } from "./fixture.ts";
import { moveCommand } from "../src/act/move.ts";
import { jsonIn, pawl, toldAs } from "./pawl.ts";

const folder = newFolder();
const main = join(import.meta.dirname, "../src/main.ts");
const toolModule = `
export const tools = [
  {
    name: "work",
    durable: true,
    execute: async (_, ctx) => {
      await ctx.run("reserve", () => "12a", { input: { to: "Lviv" } });
      return ctx.waitFor("approved");
    },
  },
  { name: "quick", durable: true, execute: () => "at once" },
  { name: "guarded", durable: true, needsApproval: true, execute: () => "done" },
];
`;

let file = "";
let child: ChildProcess;
let url = "";
let token = "";
beforeAll(async () => {
  file = await madeJournal(folder);
  writeFileSync(join(folder, "tools.mjs"), toolModule);
  const args = [main, "host", join(folder, "tools.mjs"), "-j", file, "--grant", "ann", "--json"];
  const started = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  child = started;
  const [line] = (await once(createInterface({ input: started.stdout }), "line")) as [string];
  const said = JSON.parse(line) as { readonly url: string; readonly token: string };
  [url, token] = [said.url, said.token];
});
afterAll(() => {
  child.kill("SIGKILL"); // Kills it if the test failed before stopping it.
});

const at = (): readonly string[] => ["--host", url, "--token", token];

/** Removes what differs between sources of a scope. */
const withoutLines = (why: object | undefined): string =>
  JSON.stringify(why, (field, value: unknown) => (field === "remedies" ? undefined : value));

/** Starts two hosts by configuration that are each other's peers. */
const startedBy = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
  const started = spawn(process.execPath, [main, "host", ...args, "--json"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  const said: string[] = [];
  started.stderr.on("data", (data: Buffer) => said.push(String(data)));
  const [line] = (await once(createInterface({ input: started.stdout }), "line")) as [string];
  const { url: hostUrl, token: granted = "" } = JSON.parse(line) as { readonly url: string; readonly token?: string };
  return { child: started, url: hostUrl, token: granted, said };
};

/** Starts a host on a module of this text, and returns what it prints first; or its exit code and its errors. */
const hostOn = async (text: string, args: readonly string[] = []) => {
  const own = newFolder();
  const module = join(own, "host.ts");
  writeFileSync(module, text);
  const started = spawn(process.execPath, [main, "host", module, "-j", join(own, "j.db"), "--json", ...args]);
  const errors: string[] = [];
  started.stderr.on("data", (chunk: Buffer) => errors.push(chunk.toString()));
  const [line] = (await once(createInterface({ input: started.stdout }), "line")) as [string];
  return { started, said: JSON.parse(line) as { readonly url?: string; readonly tools?: readonly string[] }, errors };
};
const runtimeAt = import.meta.resolve("@pawl/driver-node");

describe("the module of a host", () => {
  it("may say how its runtime and its host are opened, by `defineHost`", async () => {
    const { started, said } = await hostOn(
      `import { defineHost } from ${JSON.stringify(runtimeAt)};
      const tools = [{ name: "quick", execute: () => "at once" }];
      export default defineHost({ tools, origins: ["https://a.example"], options: { concurrency: 1 } });`,
      ["--origin", "https://b.example"],
    );
    expect(said.tools).toEqual(["quick"]);
    const http = (said.url ?? "").replace(/^ws/, "http");
    const headers = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
    const statusFor = async (origin: string) =>
      new Promise<number | undefined>((resolve) => {
        const asked = request(http, {
          headers: { ...headers, origin, "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" },
        });
        asked.on("upgrade", (_, socket) => (socket.destroy(), resolve(101)));
        asked.on("response", ({ statusCode }) => resolve(statusCode));
        asked.end();
      });
    expect(await statusFor("https://a.example")).toBe(101);
    expect(await statusFor("https://b.example")).toBe(101);
    expect(await statusFor("https://c.example")).toBe(403);
    started.kill();
    await once(started, "exit");
  });

  it("may export its parts, and a misspelt one is refused", async () => {
    const tools = 'export const tools = [{ name: "quick", execute: () => "at once" }];';
    const { started, said } = await hostOn(`${tools} export const options = { concurrency: 2 };`);
    expect(said.tools).toEqual(["quick"]);
    started.kill();
    await once(started, "exit");
    const misspelt = await hostOn('export default { tools: [{ name: "q", execute: () => 1 }], origin: ["x"] };');
    expect(misspelt.said).toMatchObject({
      error: { code: "invalid_option", message: expect.stringContaining("`origin`") },
    });
  });

  it("is served with Studio where that is asked for, and the link logs in", async () => {
    const tools = 'export const tools = [{ name: "quick", execute: () => "at once" }];';
    const { started, said } = await hostOn(tools, ["--studio", "--grant", "ann"]);
    const { studio = "" } = said as { readonly studio?: string };
    const [page = "", given = ""] = studio.split("#token=");
    expect(page).toBe(`${said.url?.replace(/^ws/, "http")}/studio/`);
    expect(await (await fetch(page)).text()).toContain("<title>pawl</title>");
    const login = await fetch(new URL("/v1/login", page), {
      method: "POST",
      headers: { authorization: `Bearer ${given}` },
    });
    expect([login.status, await login.json()]).toMatchObject([200, { by: "ann", scopes: ["session:"] }]);
    started.kill();
    await once(started, "exit");
    const plain = await hostOn(tools);
    expect((await fetch(`${plain.said.url?.replace(/^ws/, "http")}/studio/`)).status).toBe(426);
    plain.started.kill();
    await once(plain.started, "exit");
  });

  it("is refused where a tool runs in the background and nothing keeps the files of its runs", async () => {
    const { said } = await hostOn('export const tools = [{ name: "index", execute: () => 1, background: () => 1 }];');
    expect(said).toMatchObject({
      error: {
        code: "invalid_option",
        message: expect.stringMatching(/`index` has a background body.*`host.artifacts`/),
      },
    });
  });
});

describe("pawl host by its configuration", () => {
  it("listens, grants, logs and moves sessions as configured", async () => {
    const place = newFolder();
    writeFileSync(join(place, "tools.mjs"), toolModule);
    const tokenOf = (name: string): string => readFileSync(join(place, name), "utf8").trim();
    const shared = { tools: "tools.mjs", log_level: "info" };
    const mover = { by: "op", rights: ["move", "call", "observe"], scopes: ["session:"], hours: 1 };
    const configured = (name: string, more: object): string => {
      const written = join(place, `${name}.json`);
      writeFileSync(written, JSON.stringify({ ...shared, journal: `${name}.db`, ...more }));
      return written;
    };
    const b = await startedBy([configured("b", { grants: [{ ...mover, file: "b.token" }] })]);
    const peers = [{ url: b.url, token_file: "b.token" }];
    const a = await startedBy([configured("a", { grants: [{ ...mover, file: "a.token" }], peers })]);
    const client = new Client({ url: a.url, token: tokenOf("a.token") });
    expect(await client.session("s").request("r", [{ label: "c", tool: "quick", args: {} }])).toHaveLength(1);
    const order = ["move", "s", "--host", a.url, "--token", tokenOf("a.token"), "--to"];
    expect(await pawl([...order, "ws://127.0.0.1:1"])).toMatchObject({
      code: 4,
      err: expect.stringContaining("peers"),
    });
    expect(await pawl([...order, b.url])).toMatchObject({ code: 0, out: `session:s has moved to ${b.url}\n` });
    await expect(client.session("s").open()).rejects.toMatchObject({ code: "moved", address: b.url });
    const [moved = {}] = jsonIn(await pawl([...order, b.url, "--json"]));
    expect(toldAs(moveCommand, moved)).toBeDefined();
    client.close();
    const there = new Client({ url: b.url, token: tokenOf("b.token") });
    expect(await there.session("s").request("r", [{ label: "c", tool: "quick", args: {} }])).toHaveLength(1);
    there.close();
    const left = await pawl(["why", "s", "-j", join(place, "a.db")]);
    expect(left.out).toContain(`it has moved to ${b.url}`);
    for (const { child: one } of [a, b]) {
      one.kill("SIGINT");
      expect(await once(one, "exit")).toEqual([0, null]);
    }
    const names = a.said
      .join("")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => (JSON.parse(line) as { readonly event: string }).event);
    for (const name of ["host.listening", "client.welcomed", "scope.opened", "call.completed", "host.stopped"])
      expect(names).toContain(name);
  }, 60_000);

  it("makes spans on request only, with the SDK of its process", async () => {
    const place = newFolder();
    writeFileSync(join(place, "tools.mjs"), toolModule);
    const [api, sdk] = ["@opentelemetry/api", "@opentelemetry/sdk-trace-base"].map((name) =>
      JSON.stringify(import.meta.resolve(name)),
    );
    const setUp = `import { appendFileSync } from "node:fs";
      import { trace } from ${api};
      import { BasicTracerProvider, SimpleSpanProcessor } from ${sdk};
      const exporter = {
        export: (spans, done) => {
          for (const { name } of spans) appendFileSync(process.env.SPANS, name + "\\n");
          done({ code: 0 });
        },
        shutdown: async () => undefined,
      };
      trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));`;
    writeFileSync(join(place, "otel.mjs"), setUp);
    const spansOf = async (name: string, more: readonly string[]): Promise<ReadonlySet<string>> => {
      const spans = join(place, `${name}.txt`);
      writeFileSync(spans, "");
      const env = { NODE_OPTIONS: `--import ${pathToFileURL(join(place, "otel.mjs")).href}`, SPANS: spans };
      const host = await startedBy(
        [join(place, "tools.mjs"), "-j", join(place, `${name}.db`), "--grant", "ann", ...more],
        env,
      );
      const client = new Client({ url: host.url, token: host.token });
      await client.session("s").request("r", [{ label: "c", tool: "quick", args: {} }]);
      client.close();
      host.child.kill("SIGINT");
      await once(host.child, "exit");
      return new Set(readFileSync(spans, "utf8").split("\n").slice(0, -1));
    };
    expect(await spansOf("off", [])).toEqual(new Set());
    expect(await spansOf("on", ["--traces"])).toEqual(new Set(["pawl.commit", "execute_tool quick", "pawl.batch"]));
  }, 60_000);

  it("stops after being unused for the configured time", async () => {
    const place = newFolder();
    writeFileSync(join(place, "tools.mjs"), toolModule);
    const idle = join(place, "idle.json");
    writeFileSync(idle, JSON.stringify({ tools: "tools.mjs", journal: "idle.db", stop_after_idle_ms: 50 }));
    expect(await pawl(["host", idle, "--json"])).toMatchObject({ code: 0, out: expect.stringContaining("ws://") });
  });

  it("reports each invalid field of a configuration", async () => {
    const place = newFolder();
    const said = async (config: unknown): Promise<string> => {
      const bad = join(place, "bad.json");
      writeFileSync(bad, typeof config === "string" ? config : JSON.stringify(config));
      const { code, err } = await pawl(["host", bad]);
      expect(code).toBe(2);
      return err;
    };
    expect(await said({ port: "x" })).toContain("at $.port");
    expect(await said({ grants: [{ by: "a", file: "f", rights: ["fly"] }] })).toContain("at $.grants[0].rights[0]");
    expect(await said({ limits: { max_mesage_bytes: 1 } })).toContain("at $.limits.max_mesage_bytes: unknown");
    expect(await said({ tols: "x" })).toContain("at $.tols: unknown field");
    expect(await said("{")).toContain("bad.json");
    expect(await said({ port: 99_999, tools: "t", journal: "j" })).toContain("65535");
    expect(await said({})).toContain("no tools are named");
    expect(await pawl(["host", join(place, "none.json")])).toMatchObject({ code: 3 });
  });
});

describe("pawl host", () => {
  it("runs tools for clients with a token, and answers the command line", async () => {
    const client = new Client({ url, token });
    const waiting = client.session("waiting").replies("r");
    const parked = client.session("parked").replies("r");
    const asked = ["why", "parked", ...at()];
    const [why] = jsonIn(await pawl([...asked, "--json"]));
    const [own] = jsonIn(await pawl(["why", `${file}#parked`, "--json"]));
    expect(withoutLines(why)).toEqual(withoutLines(own));
    const { out } = await pawl(asked);
    expect(out).toMatch(/^ {2}pawl approve session:parked r:c --hash \w+ --host ws:\/\/127\.0\.0\.1:\d+$/m);
    expect(out).not.toContain(token);
    const calls = why?.["calls"] as readonly { readonly what: { readonly argsHash: string } }[] | undefined;
    const hash = calls?.[0]?.what.argsHash ?? "";
    expect(await pawl(["approve", `${file}#parked`, "r:c", "--hash", hash, ...at()])).toMatchObject({
      code: 0,
      out: "r:c is approved\n",
    });
    expect((await parked)[0]?.output.outcome).toMatchObject({ status: "success", payload: "done" });
    const cancelled = await pawl(["cancel", "waiting", "r:c", ...at(), "--json"]);
    expect([cancelled.code, jsonIn(cancelled)]).toEqual([0, [{ scope: "session:waiting", done: true }]]);
    expect((await waiting)[0]?.output.outcome).toMatchObject({ status: "cancelled" });
    client.close();
  });

  it("refuses wrong options, and clients without a token", async () => {
    expect(await pawl(["cancel", "waiting", "r:none", ...at()])).toMatchObject({ code: 4 });
    expect(await pawl(["cancel", "waiting", "r", "--host", url])).toMatchObject({ code: 2 });
    expect(await pawl(["cancel", "waiting", "r", "--host", url, "--token", "pawl1.x.y"])).toMatchObject({ code: 3 });
    const nobody = "ws://127.0.0.1:1";
    const { code, err } = await pawl(["cancel", "waiting", "r", "--host", nobody, "--token", token]);
    expect([code, err]).toEqual([
      3,
      [
        `the host at ${nobody} has not answered yet; retrying for 10 s`,
        `pawl: the host at ${nobody} does not answer`,
        "  is it running and reachable? a host with TLS has a wss:// address",
        "",
      ].join("\n"),
    ]);
  });

  it("ends on a signal", async () => {
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});
