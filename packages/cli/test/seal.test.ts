/** The command line over sealed journals and large values. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool } from "@pawl/runtime";
import { beforeAll, describe, expect, it } from "vitest";
import { aesCodec, fileKeys, openRuntime } from "@pawl/driver-node";
import { linesOf, newFolder } from "./fixture.ts";
import { jsonIn, pawl } from "./pawl.ts";
import { until } from "../../driver-node/test/until.ts";

const secret = "the secret of Ann";
const large = JSON.stringify({ large: "large ".repeat(20_000) });

const asked = defineTool({
  name: "asked",
  durable: true,
  execute: async (args, ctx) => {
    await ctx.run("small", () => secret, { input: { secret } });
    return [await ctx.run("keep", () => args, { input: { args } }), await ctx.waitFor("word")];
  },
});
const guarded = defineTool({ name: "guarded", needsApproval: true, execute: (args) => args });
const tools = [asked, guarded];
const requests = {
  asked: [{ label: "c", tool: "asked", args: { secret, large } }],
  guarded: [{ label: "c", tool: "guarded", args: { secret } }],
};

const folder = newFolder();
const journal = join(folder, "journal.db");
const keys = join(folder, "keys");
const withKeys = ["--keys", keys];

const opened = () => openRuntime({ file: journal, tools, codec: aesCodec(fileKeys(keys)) });

let key = "";
const parked = async (session: string, request: keyof typeof requests): Promise<void> => {
  const { runtime, close } = opened();
  const at = await runtime.session(session);
  void at.request("r", requests[request]).catch(() => undefined); // Nobody waits for it here.
  const isParked = (): boolean => at.state.waits.size > 0 || at.state.calls.rows()[0]?.phase === "awaiting_approval";
  await until(isParked);
  await at.runner.whenDurable();
  key = at.state.waits.rows()[0]?.key ?? key;
  await close();
};

const payloadOf = async (session: string, request: keyof typeof requests): Promise<unknown> => {
  const { runtime, close } = opened();
  const [reply] = await (await runtime.session(session)).request("r", requests[request], { keep: true });
  await close();
  return reply?.output.outcome.payload;
};

beforeAll(async () => {
  await parked("s", "asked");
  await parked("g", "guarded");
}, 120_000);

describe("the command line and sealed values", { timeout: 120_000 }, () => {
  it("shows and exports them open with the keys, and sealed without", async () => {
    const without = await pawl(["log", "export", `${journal}#s`]);
    expect(without.out).not.toContain(secret);
    expect((await pawl(["log", "export", `${journal}#s`, ...withKeys])).out).toContain(secret);
    expect((await pawl(["show", "g", "-j", journal, "--json", ...withKeys])).out).toContain(secret);
    expect((await pawl(["show", "g", "-j", journal, "--json"])).out).not.toContain(secret);
    const missing = await pawl(["show", "g", "-j", journal, "--json", "--keys", join(folder, "none")]);
    expect([missing.code, missing.out]).toEqual([3, expect.stringContaining("key_missing")]);
  });

  it("changes nothing in them without the keys", async () => {
    for (const line of [
      ["resolve", "s", key, "--ok", "1"],
      ["cancel", "s", "r:c"],
      ["fork", "s", "--at", "3"],
    ]) {
      const said = await pawl([...line, "-j", journal, "--json"]);
      expect([said.code, said.out]).toEqual([4, expect.stringContaining('"sealed"')]);
    }
  });

  it("decides and resolves with the keys, and seals and offloads its values as a host does", async () => {
    const [why] = jsonIn(await pawl(["why", "g", "-j", journal, "--json", ...withKeys]));
    const hash = /"argsHash":"([^"]+)"/.exec(JSON.stringify(why))?.[1] ?? "";
    expect((await pawl(["approve", "g", "r:c", "--hash", hash, "-j", journal, ...withKeys])).code).toBe(0);
    expect(await payloadOf("g", "guarded")).toEqual({ secret });
    const resolved = await pawl(["resolve", "s", key, "--ok", large, "-j", journal, ...withKeys]);
    expect(resolved).toMatchObject({ code: 0, err: "" });
    const last = (await linesOf(journal, "session:s")).find((line) => line.includes("wait.resolved")) ?? "";
    expect(last.length).toBeLessThan(2000);
    expect(last).toContain('"id":"blob:');
    expect(await payloadOf("s", "asked")).toEqual([{ secret, large }, JSON.parse(large)]);
  });

  it("forks them into a scope with its own key, with large values", async () => {
    expect(await pawl(["fork", "s", "--at", "8", "--into", "f", "-j", journal, ...withKeys])).toMatchObject({
      code: 0,
    });
    const text = (await pawl(["log", "export", `${journal}#f`, ...withKeys])).out;
    expect(text).toContain(secret);
    expect((await linesOf(journal, "session:f")).join("")).not.toContain(secret);
    const forget = ["forget", "s", "-j", journal, "--json", ...withKeys];
    const warned = await pawl(forget);
    expect([warned.code, warned.out]).toEqual([4, expect.stringContaining("not_confirmed")]);
    expect((await pawl(["log", "export", `${journal}#s`, ...withKeys])).out).toContain(secret);
    for (let i = 0; i < 2; i++) expect(await pawl([...forget, "--for-ever"])).toMatchObject({ code: 0, err: "" });
    expect((await pawl(["log", "export", `${journal}#f`, ...withKeys])).out).toBe(text);
    const gone = await pawl(["log", "export", `${journal}#s`, "--json", ...withKeys]);
    expect([gone.code, gone.out]).toEqual([3, expect.stringContaining("key_gone")]);
  });

  it("seals what was exported open when it is imported", async () => {
    const exported = join(folder, "f.jsonl");
    expect((await pawl(["log", "export", `${journal}#f`, "-o", exported, ...withKeys])).code).toBe(0);
    expect(readFileSync(exported, "utf8")).toContain(secret);
    const other = join(folder, "other.db");
    const imported = await pawl(["log", "import", exported, "-j", other, "--keys", join(folder, "other-keys")]);
    expect(imported).toMatchObject({ code: 0 });
    expect((await linesOf(other, "session:f")).join("")).not.toContain(secret);
  });
});

describe("pawl blobs sweep", { timeout: 120_000 }, () => {
  it("deletes unreferenced values, sealed or not, and first prints which", async () => {
    const { runtime, close } = opened();
    const session = await runtime.session("t");
    await session.request("r", [{ label: "c", tool: "nobody", args: { large } }]);
    await close();
    const sweep = async (...more: readonly string[]) =>
      jsonIn(await pawl(["blobs", "sweep", journal, "--grace", "0", "--json", ...more]))[0];
    const { diskBlobs } = await import("@pawl/driver-node");
    const unreferenced = "ab".repeat(32);
    await diskBlobs(`${journal}.blobs`).put("s", unreferenced, new Uint8Array(3));
    expect(await sweep("--dry-run")).toMatchObject({ removed: [unreferenced], dry_run: true });
    expect(await sweep()).toMatchObject({ removed: [unreferenced], dry_run: false });
    expect(await sweep()).toMatchObject({ removed: [] });
    const spared = await pawl(["blobs", "sweep", journal]);
    expect(spared).toMatchObject({ code: 0, out: expect.stringContaining("0 values older than 3600 s") });
  });
});
