/** The records and bytes that streams cost in the log, by a virtual clock: 100 streams at once, 50 chunks a second each. */
import { expect, it } from "vitest";
import { defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const chunkMs = 20;
const count = 250;
const chars = 40;
const streams = 100;

it("a stream of 50 chunks a second costs at most 4 records a second, and 1.5 bytes of log for each byte of text", async () => {
  const world = new World(2);
  const { platform } = world;
  const words = async function* () {
    for (let n = 0; n < count; n++) {
      await new Promise<void>((resolve) => platform.later(chunkMs, resolve));
      yield String(n).padEnd(chars, "x");
    }
  };
  const tool = defineTool({
    name: "talks",
    durable: true,
    execute: async (_, ctx) => (await ctx.stream("words", words)).length,
  });
  const { runtime } = world.start([tool]);
  const sessions = await Promise.all(Array.from({ length: streams }, (_, i) => runtime.session(`s${i}`)));
  const replies = sessions.map((session) => session.request("turn-1", [{ label: "call-1", tool: "talks", args: {} }]));
  for (let ms = 0; ms <= (count + 5) * chunkMs; ms += chunkMs) {
    await world.quiet(6);
    platform.advance(chunkMs);
  }
  await world.quiet();
  for (const [reply] of await Promise.all(replies)) expect(reply?.output.outcome.payload).toBe(count);
  const seconds = (count * chunkMs) / 1000;
  for (const session of sessions) {
    const lines = await world.journal.read(session.state.scope.id, 1);
    const groups = lines.filter(({ line }) => line.includes('"stream.recorded"'));
    const bytes = groups.reduce((sum, { line }) => sum + line.length + 1, 0);
    expect(groups.length / seconds).toBeLessThanOrEqual(4);
    expect(bytes / (count * chars)).toBeLessThanOrEqual(1.5);
  }
});
