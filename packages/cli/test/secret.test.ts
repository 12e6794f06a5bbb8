/** Secrets of a session: neither the command line nor any file of the journal says them. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openRuntime } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import { newFolder } from "./fixture.ts";
import { pawl } from "./pawl.ts";

const value = "sk_live_4eC39HqLyjWDarjtT1zdp7dc";

const pay = defineTool({
  name: "pay",
  durable: true,
  execute: async (_, ctx) => {
    const failed = await ctx
      .run("refused", async ({ secret }) => {
        throw new Error(`401 for ${await secret("stripe")}`);
      })
      .catch((thrown: unknown) => (thrown as Error).message);
    await ctx.run("said", async ({ secret }) => `Bearer ${await secret("stripe")}`);
    return ctx.approve({ title: `Go on after: ${failed}?` });
  },
});

describe("a secret", () => {
  it("is in no file of a journal, and in nothing that the command line prints", async () => {
    const folder = newFolder();
    const file = join(folder, "journal.db");
    const { runtime, close } = openRuntime({ file, tools: [pay], snapshotAfter: 1 });
    const session = await runtime.session("ann", { title: "Ann" });
    await session.secrets.set("stripe", value);
    void session.call(pay, {}, { id: "turn-1" }).catch(() => undefined); // It waits for a person until the end.
    await expect.poll(async () => (await session.approvals()).length, { timeout: 30_000 }).toBe(1);
    await close();
    const log = `${file}#session:ann`;
    const told: string[] = [];
    for (const command of [
      ["show", log],
      ["show", log, "--json"],
      ["why", log],
      ["why", log, "--json"],
      ["ls", file],
      ["approvals", file],
      ["export", log],
      ["replay", log],
      ["doctor", file],
    ]) {
      const { out, err } = await pawl(command);
      told.push(out + err);
    }
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    told.push(...files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1")));
    expect(told.join("\n")).toContain("secret.kept");
    expect(told.join("\n")).toContain("[secret stripe]");
    expect(told.filter((text) => text.includes(value) || text.includes(value.slice(4, 20)))).toEqual([]);
  });
});
