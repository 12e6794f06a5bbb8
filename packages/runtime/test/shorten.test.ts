/** Logs that are shortened from themselves: one that came as a single append, and one with a line that nobody can follow. */
import { expect, it } from "vitest";
import { type Journal, Runtime, defineTool } from "../src/index.ts";
import { Hosts, scope } from "./move-world.ts";
import { type TestPlatform, World } from "./world.ts";

const echo = defineTool({ name: "echo", execute: (args) => args as never });
const call = (text: string) => [{ label: "c", tool: "echo", args: text.repeat(500) }];

/** Time for a snapshot that is due. */
const passes = async (world: {
  readonly platform: TestPlatform;
  readonly quiet: (turns?: number) => Promise<void>;
}) => {
  for (let i = 0; i < 4; i++) {
    await world.quiet(8);
    world.platform.advance(20);
  }
};

it("keeps what is younger than it was told in a log that came as one append", async () => {
  const hosts = new Hosts([echo]);
  const { platform, a, b } = hosts;
  const before = await a.runtime.session("s");
  for (let n = 0; n < 40; n++) {
    await before.request(`n${n}`, call(`${n}`));
    platform.advance(300_000);
  }
  await a.runtime.move(scope, "b");
  b.kill();
  const roots = { newest: { kid: "k", secret: new Uint8Array(32).fill(98) } };
  const runtime = new Runtime({
    journal: b.journal,
    platform,
    tools: hosts.tools,
    instance: "b9",
    roots,
    retention: { olderThanMs: 3_600_000 },
    snapshotAfter: 2000,
  });
  const session = await runtime.session("s");
  for (let n = 0; n < 4; n++) {
    await session.request(`m${n}`, call(`m${n}`));
    await passes(hosts);
  }
  const again = await session.request("n39", call("39"));
  expect(again[0]?.output.outcome.status).toBe("success");
});

it("takes snapshots all the same where an old line does not follow any more", async () => {
  const world = new World();
  const first = world.start([echo], { snapshotAfter: 2000 });
  const whole = await first.runtime.session("s");
  for (let n = 0; n < 60; n++) {
    await whole.request(`m${n}`, call("m"));
    await passes(world);
    world.platform.advance(5000);
  }
  first.kill();
  let puts = 0;
  const faulty: Partial<Journal> = {
    read: async (...of) =>
      (await world.journal.read(...of)).map(({ seq, line }) => ({
        seq,
        line: seq === 5 ? line.replace(/"cmds":"."/, '"cmds":"').replace(/"cmds":"(?<digit>.)/, '"cmds":"!') : line,
      })),
    snapshot: (...of) => {
      puts += 1;
      return world.journal.snapshot(...of);
    },
  };
  const { runtime } = world.start([echo], { retention: { olderThanMs: 60_000 }, snapshotAfter: 2000, faulty });
  const session = await runtime.session("s");
  for (let n = 0; n < 10; n++) {
    await session.request(`n${n}`, call("n"));
    await passes(world);
  }
  expect(puts).toBeGreaterThan(3);
});
