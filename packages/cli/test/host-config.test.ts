/** Flows that a host's configuration mounts, and tokens for it. The host runs in this process. */
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { Client } from "@pawl/wire";
import { newFolder } from "./fixture.ts";
import { jsonIn, pawl } from "./pawl.ts";

const greet = {
  name: "Greet",
  nodes: [
    { node_type: "use_tool", tool_name: "say", argument: "hello ${who}" },
    { node_type: "return", value_expr: "${say_result}" },
  ],
};
const double = {
  name: "Double",
  nodes: [{ node_type: "use_tool", tool_name: "double", named_args: [{ name: "n", value: "${n}" }] }],
};
const tools = `export const tools = [
  { name: "say", durable: true, execute: (text) => text },
  {
    name: "double",
    durable: true,
    inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    execute: ({ n }) => "twice is " + 2 * n,
  },
];`;
const large = "large ".repeat(20_000);
const long = "text ".repeat(6000);

interface Running {
  readonly config: string;
  readonly url: string;
  readonly at: (path: string) => string;
  readonly stop: () => Promise<unknown>;
}

/** Runs the host until it is stopped. */
const running = async (more: object): Promise<Running> => {
  const folder = newFolder();
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write("tools.mjs", tools);
  write("greet.json", JSON.stringify(greet));
  write("double.json", JSON.stringify(double));
  const config = join(folder, "pawl.json");
  write("pawl.json", JSON.stringify({ journal: "journal.db", tools: "./tools.mjs", ...more }));
  const over = new AbortController();
  const { promise: listening, resolve } = Promise.withResolvers<string>();
  const run = pawl(["host", config, "--json"], { interrupted: over.signal, onOut: resolve });
  const { url, error } = JSON.parse(await listening) as { readonly url: string; readonly error?: object };
  if (error !== undefined) throw new Error(JSON.stringify(error));
  const stop = (): Promise<unknown> => {
    over.abort();
    return run;
  };
  return { config, url, at: (path) => url.replace(/^ws/, "http") + path, stop };
};

const tokenOf = async (config: string): Promise<string> =>
  String(jsonIn(await pawl(["token", "ann", "-c", config, "--json"]))[0]?.["token"]);

const logOf = (text: string): string => text.replaceAll(/^\{"blob".*\n/gm, "");

/** Returns the error of a flow's configuration. */
const wrong = async (flow: object): Promise<string> =>
  running({ flows: [{ name: "greet", file: "./greet.json", ...flow }] }).then(
    () => "it runs",
    (thrown: unknown) => String(thrown),
  );

const mounts = {
  blobs: "./large",
  keys: "./keys",
  flows: [{ name: "greet", file: "./greet.json", parameters: ["who"], path: "{who}" }],
};

describe("pawl host by its configuration", { timeout: 120_000 }, () => {
  it("mounts flows, keeps large values in the configured folder, and seals with the configured keys", async () => {
    const { config, url, at, stop } = await running(mounts);
    const folder = join(config, "..");
    const [made] = jsonIn(await pawl(["token", "ann", "-c", config, "--json"]));
    const token = String(made?.["token"]);
    expect(made).toMatchObject({ by: "ann", scopes: ["session:"] });
    const flowed = await fetch(at("/flows/greet/bob"), { headers: { authorization: `Bearer ${token}` } });
    expect([flowed.status, await flowed.text()]).toEqual([200, expect.stringContaining("hello bob")]);
    const client = new Client({ url, token });
    await client.session("s").request("r", [
      { label: "c", tool: "say", args: { large } },
      { label: "d", tool: "say", args: "small" },
    ]);
    client.close();
    await stop();
    expect([existsSync(join(folder, "large")), existsSync(join(folder, "keys"))]).toEqual([true, true]);
    expect(existsSync(join(folder, "journal.db.blobs"))).toBe(false);
    const place = [`${join(folder, "journal.db")}#s`, "--blobs", join(folder, "large")];
    const open = await pawl(["log", "export", ...place, "--keys", join(folder, "keys")]);
    expect(open.out.length).toBeGreaterThan(large.length);
    expect(logOf(open.out)).not.toContain("sealed");
    expect(logOf((await pawl(["log", "export", ...place])).out)).toContain('"sealed":');
  });

  it("tells others its configured address", async () => {
    const { config, url, stop } = await running({ public_url: "wss://a.example/pawl" });
    const client = new Client({ url, token: await tokenOf(config) });
    await client.session("s").request("r", [{ label: "c", tool: "say", args: 1 }]);
    expect((await pawl(["ls", join(config, "..", "journal.db")])).out).toContain("at wss://a.example/pawl");
    client.close();
    await stop();
  });

  it("keeps no more of its sessions than configured", async () => {
    const { config, url, stop } = await running({ retention_days: 0 });
    const client = new Client({ url, token: await tokenOf(config) });
    const baseOf = async (): Promise<number> => {
      const { out } = await pawl(["log", "export", `${join(config, "..", "journal.db")}#s`]);
      return (JSON.parse(out.split("\n")[0] ?? "") as { readonly base: number }).base;
    };
    for (let n = 0; n === 0 || (await baseOf()) === 0; n++) {
      await client.session("s").request(`r${n}`, [{ label: "c", tool: "say", args: long }]);
      await pause(25); // A snapshot waits for an idle moment, and retention for the next one.
    }
    client.close();
    await stop();
  });

  it("makes scopes that older releases can read, if it is told so", async () => {
    for (const [upgrade, protocol] of [
      ["never", 1],
      ["auto", 2],
    ] as const) {
      const { config, url, stop } = await running({ upgrade });
      const client = new Client({ url, token: await tokenOf(config) });
      await client.session("s").request("r", [{ label: "c", tool: "say", args: 1 }]);
      const { out } = await pawl(["log", "export", `${join(config, "..", "journal.db")}#s`]);
      expect(JSON.parse(out.split("\n")[0] ?? "")).toMatchObject({ protocol });
      client.close();
      await stop();
    }
  });

  it("limits its journal to the configured size", async () => {
    const { config, url, stop } = await running({ max_journal_mb: 1 });
    const client = new Client({ url, token: await tokenOf(config) });
    const calls = Array.from({ length: 40 }, (_, n) =>
      client.session(`s${n}`).request("r", [{ label: "c", tool: "say", args: long }]),
    );
    const ended = Promise.allSettled(calls);
    await vi.waitUntil(async () => statSync(join(config, "..", "journal.db")).size > 900_000, { timeout: 20_000 });
    client.close();
    await ended;
    await stop();
    expect(statSync(join(config, "..", "journal.db")).size).toBeLessThanOrEqual(1024 * 1024);
  });

  it("reports an invalid public address", async () => {
    const wrongUrl = running({ public_url: "https://a.example" });
    await expect(wrongUrl).rejects.toThrow(/public_url.*ws:\/\/ or wss:\/\//);
  });

  it("passes arguments to its module's tools in the types of their schemas", async () => {
    const flows = [{ name: "double", file: "./double.json", parameters: ["n"], path: "{n}" }];
    const { config, at, stop } = await running({ flows });
    const token = (await pawl(["token", "ann", "-c", config, "--right", "call", "--json"])).out;
    const { token: bearer } = JSON.parse(token) as { readonly token: string };
    const answer = await fetch(at("/flows/double/21"), { headers: { authorization: `Bearer ${bearer}` } });
    expect(await answer.text()).toContain("twice is 42");
    await stop();
  });

  it("reports an invalid flow", async () => {
    expect(await wrong({ name: "a/b" })).toContain("one path segment");
    expect(await wrong({ path: "{who}" })).toContain("{who} in its path");
    expect(await wrong({ file: "./none.json" })).toContain("the file does not exist");
    expect(await wrong({ extra: 1 })).toContain("unknown field");
  });
});

describe("pawl token", { timeout: 120_000 }, () => {
  it("makes tokens that the host accepts with these claims, until they expire", async () => {
    const { config, url, stop } = await running({});
    const made = async (...more: readonly string[]) =>
      jsonIn(await pawl(["token", "app", "-c", config, "--json", ...more]))[0] ?? {};
    const less = await made("--right", "observe,move", "--scope", "session:team/", "--hours", "2");
    expect(less).toMatchObject({ by: "app", rights: ["observe", "move"], scopes: ["session:team/"] });
    expect(Number(less["expires_at"]) - Date.now()).toBeLessThanOrEqual(2 * 3_600_000);
    const client = new Client({ url, token: String(less["token"]) });
    const refused = client.session("team/a").request("r", [{ label: "c", tool: "say", args: 1 }]);
    await expect(refused).rejects.toMatchObject({ code: "permission_denied" });
    client.close();
    const old = (await pawl(["token", "app", "-c", config], { now: Date.now() - 2 * 86_400_000 })).out.trim();
    const late = new Client({ url, token: old });
    await expect(late.session("a").open()).rejects.toMatchObject({ code: "token_expired" });
    late.close();
    await stop();
  });

  it("writes one to a private file, and reports why it cannot", async () => {
    const { config, stop } = await running({});
    await stop();
    const journal = join(config, "..", "journal.db");
    const file = join(mkdtempSync(join(newFolder(), "t-")), "app.token");
    expect(await pawl(["token", "app", "-j", journal, "-o", file])).toMatchObject({ code: 0 });
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(readFileSync(file, "utf8")).toMatch(/^pawl1\..*\n$/);
    expect(await pawl(["token", "app", "-j", journal, "--right", "fly"])).toMatchObject({ code: 2 });
    expect(await pawl(["token", "app", "-j", journal, "--hours", "0"])).toMatchObject({ code: 2 });
    const token = ["token", "app", "-j", journal, "--scope"];
    const message = "names of scopes begin with session: or process:, found `alice`";
    expect(await pawl([...token, "alice"])).toMatchObject({ code: 2, err: expect.stringContaining(message) });
    const refused = { code: 2, err: expect.stringContaining("a token has at most 16384 characters") };
    expect(await pawl([...token, `session:${"x".repeat(16 * 1024)}`])).toMatchObject(refused);
    expect(await pawl(["token", "app", "-j", join(newFolder(), "none.db"), "--json"])).toMatchObject({
      code: 3,
      out: expect.stringContaining("no_secret"),
    });
  });
});
