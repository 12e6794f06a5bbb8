/** Sealed logs without their keys: the command line says that keys are missing, and nothing worse. */
import { join } from "node:path";
import { defineTool } from "@pawl/runtime";
import { beforeAll, describe, expect, it } from "vitest";
import { aesCodec, fileKeys, openRuntime } from "@pawl/driver-node";
import { newFolder } from "./fixture.ts";
import { jsonIn, pawl } from "./pawl.ts";
import { until } from "../../driver-node/test/until.ts";

const folder = newFolder();
const journal = join(folder, "journal.db");
const keys = join(folder, "keys");
const index = defineTool({
  name: "index",
  execute: () => null,
  background: () => ({ summary: "read", result: 3 }),
});
const echo = defineTool({ name: "echo", durable: true, execute: (args) => args });

let run = "";
beforeAll(async () => {
  const { runtime, close } = openRuntime({
    file: journal,
    tools: [index, echo],
    codec: aesCodec(fileKeys(keys)),
    host: { artifacts: async () => undefined },
  });
  await (await runtime.session("plain")).request("r", [{ label: "c", tool: "echo", args: { secret: 1 } }]);
  const spawned = await runtime.background.spawn("s", { tool: "index", args: { secret: 2 }, title: "Index" });
  if (spawned.status === "refused") throw new Error(spawned.message);
  run = `process:${spawned.run}`;
  await until(async () => (await runtime.background.of("s").task(spawned.task))?.state === "succeeded");
  await (await runtime.processes.scope(spawned.run)).runner.whenDurable();
  await close();
});

const hint = "add --keys <folder>, or set PAWL_KEYS";

describe("sealed logs without their keys", () => {
  it("are unreadable for the doctor, which names the remedy; with the keys they are fine", async () => {
    const without = await pawl(["doctor", journal, "--json"]);
    const told = jsonIn(without);
    expect(without.code).toBe(3);
    expect(told.at(-1)).toEqual({ scopes: 3, quarantined: 0, altered: 0, unread: told.length - 1 });
    expect(told).toContainEqual({
      log: `${journal}#${run}`,
      unread: {
        code: "sealed",
        message: `${journal}#${run} cannot be replayed: its values are sealed, and no keys were given`,
      },
      remedy: hint,
    });
    const words = await pawl(["doctor", journal]);
    expect(words.out).toContain(`    ${hint}\n`);
    expect(words.out).not.toContain("quarantined");
    const having = await pawl(["doctor", journal, "--keys", keys]);
    expect([having.code, having.out]).toEqual([0, "fine: 3 scopes\n"]);
  });

  it("are reported as unreadable by verify, replay, show, ls and check-upgrade", async () => {
    const verified = await pawl(["log", "verify", `${journal}#${run}`]);
    expect([verified.code, verified.out]).toEqual([3, expect.stringContaining(hint)]);
    for (const line of [["log", "replay"], ["show"], ["why"]]) {
      const { code, err } = await pawl([...line, `${journal}#${run}`]);
      expect([line, code, err]).toEqual([line, 3, expect.stringContaining(hint)]);
    }
    const listed = await pawl(["ls", journal]);
    expect([listed.code, listed.out]).toEqual([0, expect.stringContaining(run)]);
    expect((await pawl(["ls", journal, "--keys", keys])).out).toContain("run Index: completed");
    const tools = join(import.meta.dirname, "sealed-tools.ts");
    const checked = await pawl(["check-upgrade", `${journal}#plain`, "--tools", tools]);
    expect([checked.code, checked.err]).toEqual([3, expect.stringContaining(hint)]);
  });

  it("do not keep the doctor from the other scopes if one key is deleted", async () => {
    await fileKeys(keys).remove("session:plain");
    const { code, out } = await pawl(["doctor", journal, "--keys", keys]);
    expect(code).toBe(3);
    expect(out).toContain(`unread  ${journal}#session:plain`);
    expect(out).toContain("1 of 3 scopes could not be read");
  });
});
