/** Logs as files: what has left the state is found again where they are taken in. */
import { expect, it } from "vitest";
import { type Journal, defineTool, importLog, logText, memoryJournal } from "../src/index.ts";
import { World } from "./world.ts";

const waits = defineTool({
  name: "waits",
  durable: true,
  execute: async (_, ctx) => {
    const heard = await ctx.waitFor("go");
    return [heard, await ctx.run("step", () => "done")];
  },
});

const ok = (payload: string) => ({ status: "ok", payload }) as const;

it("have it of each wait which event resolved it, and not which one it left with", async () => {
  const world = new World();
  const session = await world.start([waits]).runtime.session("s");
  const reply = session.request("r", [{ label: "c", tool: "waits", args: {} }]);
  await world.quiet();
  const [wait] = session.state.waits.rows();
  const key = wait?.key ?? "";
  await session.resolveById(key, ok("yes"), "ann", "first");
  await reply;
  await world.quiet();
  const copy: Journal = memoryJournal({ now: world.platform.now });
  await importLog(copy, "importer", (await logText(world.journal, "session:s")) ?? []);
  expect(await copy.find("session:s", "wait", key)).toBe(await world.journal.find("session:s", "wait", key));
  const other = new World();
  const again = await other.start([waits], { faulty: copy }).runtime.session("s");
  expect(await again.resolveById(key, ok("yes"), "ann", "first")).toEqual({ status: "accepted" });
  expect(await again.resolveById(key, ok("no"), "ann", "second")).toEqual({
    status: "already_resolved",
    terminal: ok("yes"),
  });
});
