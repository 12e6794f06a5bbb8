/** Mistakes that an operator makes in the first months, and the answers. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, describe, expect, it } from "vitest";
import { aesCodec, fileKeys, openHost, openRuntime } from "@pawl/driver-node";
import { guarded, madeJournal, newFolder, tools } from "./fixture.ts";
import { jsonIn, pawl, pawlProcess } from "./pawl.ts";

const main = join(import.meta.dirname, "../src/main.ts");
const folder = newFolder();
let file = "";
beforeAll(async () => {
  file = await madeJournal(folder);
});

const toolModule = `
export const tools = [{ name: "hang", execute: () => new Promise((resolve) => setTimeout(resolve, 60_000)) }];
`;

/** Splits a proposed line into words; none of these contains a space. */
const proposed = (out: string, verb: string): readonly string[] =>
  (new RegExp(`^ {2}pawl (${verb} .*)$`, "m").exec(out)?.[1] ?? "").split(" ");

describe("lines that `pawl why` proposes", () => {
  it("name the host that owns the session, if it has an address", async () => {
    const secrets = [Buffer.alloc(32, 1)] as const;
    const { runtime, close } = openRuntime({ file, tools });
    const host = await openHost({ runtime, secrets });
    await runtime.session("parked");
    const token = host.sign({
      by: "ann",
      scopes: ["session:"],
      rights: ["approve", "observe"],
      expires_at: Date.now() + 60_000,
    });
    const line = proposed((await pawl(["why", "parked", "-j", file])).out, "reject");
    const said = await pawl([...line, "--token", token]);
    await host.close();
    await close();
    expect(line.slice(-2)).toEqual(["--host", host.url]);
    expect(said).toMatchObject({ code: 0, err: "" });
  });

  it("repeat the keys that the command line named", async () => {
    const [path, keys] = [join(folder, "sealed.db"), join(folder, "keys")];
    const { runtime, close } = openRuntime({ file: path, tools: [guarded], codec: aesCodec(fileKeys(keys)) });
    const session = await runtime.session("s");
    void session.request("r", [{ label: "c", tool: "guarded", args: {} }]).catch(() => undefined); // Nobody waits for it here.
    await expect.poll(() => session.state.calls.rows()[0]?.phase).toBe("awaiting_approval");
    await session.runner.whenDurable();
    await close();
    const line = proposed((await pawl(["why", `${path}#s`, "--keys", keys])).out, "approve");
    expect(line.slice(-2)).toEqual(["--keys", keys]);
    expect(await pawl(line)).toMatchObject({ code: 0 });
    expect((await pawl(["why", `${path}#s`], { env: { PAWL_KEYS: keys } })).out).not.toContain("--keys");
  });
});

describe("a host that was killed", { timeout: 60_000 }, () => {
  it("loses its ownership in `pawl ls` and `pawl why` before its lease expires", async () => {
    writeFileSync(join(folder, "tools.mjs"), toolModule);
    const path = join(folder, "killed.db");
    const args = [main, "host", join(folder, "tools.mjs"), "-j", path, "--grant", "ann", "--json"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const [said] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const { url, token } = JSON.parse(said) as { readonly url: string; readonly token: string };
    const { Client } = await import("@pawl/wire");
    const client = new Client({ url, token });
    void client
      .session("s")
      .request("r", [{ label: "c", tool: "hang", args: {} }])
      .catch(() => undefined); // Its host dies.
    await expect.poll(async () => (await pawl(["why", "s", "-j", path, "--json"])).out).toContain('"phase":"running"');
    expect((await pawl(["ls", path, "--owned"])).out).toMatch(`owned by node:${child.pid}`);
    expect((await pawl(["ls", path])).out).toContain(` at ${url}`);
    child.kill("SIGKILL");
    await once(child, "exit");
    client.close();
    expect((await pawl(["ls", path])).out).toContain(`left by node:${child.pid}`);
    expect((await pawl(["ls", path, "--owned"])).out).toContain("no scopes");
    expect((await pawl(["why", "s", "-j", path])).out).toContain("nobody runs it now");
    expect(jsonIn(await pawl(["why", "s", "-j", path, "--json"]))[0]).toMatchObject({ owned: false });
  });
});

describe("mistakes of an operator", () => {
  const asked = ["why", "parked", "--host"];
  it.each<[string, readonly string[], string]>([
    ["a token that is empty", [...asked, "ws://127.0.0.1:1", "--token", ""], "a host needs a token"],
    [
      "an address without its scheme",
      [...asked, "127.0.0.1:7777", "--token", "t"],
      "--host expects the address of a host",
    ],
    [
      "a name beside a token",
      ["reject", "parked", "r:c", "--hash", "h", "--by", "ann", "--host", "ws://127.0.0.1:1", "--token", "t"],
      "--by cannot be used with --host",
    ],
    ["a token for no time", ["token", "ann", "--hours", "0"], "--hours expects a whole number from 1, found `0`"],
    ["an option's value that looks like an option", ["token", "ann", "--hours", "-1"], "argument is ambiguous."],
  ])("%s is an error of the command line", async (_, args, message) => {
    const { code, err } = await pawl(args);
    expect([code, err.split("\n")[0]]).toEqual([2, expect.stringContaining(message)]);
    expect(err).not.toContain("\\n");
  });

  it("a token for impossible scopes is not made", async () => {
    const path = join(folder, "granted.db");
    writeFileSync(`${path}.host`, Buffer.alloc(32, 1));
    const said = await pawl(["token", "ann", "-j", path, "--scope", "team-1/"]);
    expect(said).toMatchObject({ code: 2, out: "", err: expect.stringContaining("found `team-1/`") as string });
    for (const scope of ["session:team-1/", "process:", "sess", ""])
      expect(await pawl(["token", "ann", "-j", path, "--scope", scope])).toMatchObject({ code: 0 });
  });

  it("an invalid certificate is reported, and nothing is opened", async () => {
    const place = newFolder();
    const write = (name: string, text: string): void => writeFileSync(join(place, name), text);
    write("tools.mjs", toolModule);
    write("k.pem", "no key");
    const tls = { key: "k.pem", cert: "k.pem" };
    write("pawl.json", JSON.stringify({ journal: "j.db", tools: "tools.mjs", tls }));
    expect(await pawl(["host", join(place, "pawl.json")])).toMatchObject({
      code: 3,
      err: expect.stringContaining("not a key and certificate for TLS") as string,
    });
  });

  it("a module in a CommonJS package is told which name to use", async () => {
    const place = newFolder();
    mkdirSync(join(place, "app"));
    writeFileSync(join(place, "app", "package.json"), '{ "type": "commonjs" }');
    writeFileSync(join(place, "app", "tools.js"), 'import "node:fs";\nexport const tools = [];\n');
    const { code, err } = await pawlProcess(["host", join(place, "app", "tools.js"), "-j", join(place, "j.db")]);
    expect([code, err]).toEqual([3, expect.stringContaining("name it .mts or .mjs")]);
  });
});
