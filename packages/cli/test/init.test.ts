/** Tests what `pawl init` writes: a host that starts from it, and a tool that runs there. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@pawl/wire";
import { describe, expect, it } from "vitest";
import { newFolder } from "./fixture.ts";
import { jsonIn, pawl } from "./pawl.ts";

describe("pawl init", () => {
  it("writes a host that starts, and a tool that runs in it", async () => {
    const folder = join(newFolder(), "agent");
    const written = jsonIn(await pawl(["init", folder, "--port", "0", "--grant", "ann", "--json"]));
    expect(written).toEqual([
      { written: [join(folder, "pawl.json"), join(folder, "tools.ts")], next: expect.any(String) },
    ]);
    const over = new AbortController();
    const { promise: listening, resolve } = Promise.withResolvers<string>();
    const run = pawl(["host", join(folder, "pawl.json"), "--json"], { interrupted: over.signal, onOut: resolve });
    const { url } = JSON.parse(await listening) as { readonly url: string };
    const client = new Client({ url, token: readFileSync(join(folder, "ann.token"), "utf8").trim() });
    const [reply] = await client.session("s").request("r", [{ tool: "greet", args: { name: "Ann" } }]);
    expect(reply?.output.outcome).toMatchObject({ status: "success", payload: expect.stringMatching(/^hello Ann, /) });
    client.close();
    over.abort();
    expect((await run).code).toBe(0);
  });

  it("overwrites nothing", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "tools.ts"), "export const tools = [];");
    expect((await pawl(["init", folder])).code).toBe(0);
    expect(readFileSync(join(folder, "tools.ts"), "utf8")).toBe("export const tools = [];");
    const again = await pawl(["init", folder]);
    expect({ code: again.code, err: again.err }).toMatchObject({
      code: 3,
      err: expect.stringContaining("is there already"),
    });
  });

  it("names a module of tools that is there, from the folder of the configuration", async () => {
    const folder = newFolder();
    await pawl([
      "init",
      join(folder, "host"),
      "--tools",
      join(folder, "own.ts"),
      "--journal",
      "postgres://app@db.internal/app",
    ]);
    expect(existsSync(join(folder, "host", "tools.ts"))).toBe(false);
    expect(JSON.parse(readFileSync(join(folder, "host", "pawl.json"), "utf8"))).toMatchObject({
      tools: "./../own.ts",
      journal: "postgres://app@db.internal/app",
    });
  });
});
