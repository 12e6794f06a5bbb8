import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client } from "../../src/client/client.ts";
import { madeJournal, newFolder } from "./fixture.ts";
import { jsonIn, pawl } from "./pawl.ts";

const folder = newFolder();
const main = join(import.meta.dirname, "../../src/cli/main.ts");
const toolModule = `
export const tools = [
  {
    name: "work",
    durable: true,
    execute: async (_, ctx) => {
      await ctx.runJson("reserve", { to: "Lviv" }, () => "12a");
      return ctx.awaitEventJson("approved");
    },
  },
  { name: "guarded", durable: true, policy: "requires_approval", execute: () => "done" },
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
  child.kill("SIGKILL"); // Where a test failed before it was told to end.
});

const at = (): readonly string[] => ["--host", url, "--token", token];

describe("pawl host", () => {
  it("runs tools for who has its token, and does what the command line asks of it", async () => {
    const client = new Client({ url, token });
    const waiting = client.session("waiting").replies("r");
    const parked = client.session("parked").replies("r");
    const [why] = jsonIn(await pawl(["why", `${file}#parked`, "--json"]));
    const calls = why?.["calls"] as readonly { readonly what: { readonly argsHash: string } }[] | undefined;
    const hash = calls?.[0]?.what.argsHash ?? "";
    expect(await pawl(["approve", "parked", "r:c", "--hash", hash, ...at()])).toMatchObject({
      code: 0,
      out: "r:c is approved\n",
    });
    expect((await parked)[0]?.output.outcome).toMatchObject({ status: "success", payload: "done" });
    expect(await pawl(["cancel", "waiting", "r:c", ...at()])).toMatchObject({ code: 0 });
    expect((await waiting)[0]?.output.outcome).toMatchObject({ status: "cancelled" });
    client.close();
  });

  it("refuses what does not fit, and who has no token", async () => {
    expect(await pawl(["cancel", "waiting", "r:none", ...at()])).toMatchObject({ code: 4 });
    expect(await pawl(["cancel", "waiting", "r", "--host", url])).toMatchObject({ code: 2 });
    expect(await pawl(["cancel", "waiting", "r", "--host", url, "--token", "pawl1.x.y"])).toMatchObject({ code: 3 });
  });

  it("ends when it is told to", async () => {
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});
