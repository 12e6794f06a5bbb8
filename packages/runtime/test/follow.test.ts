/** Whoever follows a log hears of each event, and of nothing else. */
import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const echo = defineTool({ name: "echo", execute: (args) => args });

it("waits on where letters are written without an event", async () => {
  const world = new World();
  const session = await world.start([echo]).runtime.session("s");
  await world.quiet();
  const { seq } = session.state;
  let heard: unknown = "nothing yet";
  const over = new AbortController();
  const next = session.follow(seq, over.signal).next();
  next.then(
    ({ value }) => (heard = value?.seq),
    (thrown: unknown) => (heard = thrown),
  );
  session.runner.say({ to: "session:other", kind: "message", link: 1, number: 1, text: "{}" });
  await world.quiet();
  expect(heard).toBe("nothing yet");
  await session.request("r", [{ label: "c", tool: "echo", args: 1 }]);
  await next;
  expect(heard).toBe(seq + 1);
  over.abort();
});

it("keeps its scope in memory, however long whoever reads takes for one event", async () => {
  const world = new World();
  const { runtime } = world.start([echo], { linger: { ms: 100, most: 5 } });
  const session = await runtime.session("s");
  const over = new AbortController();
  const log = session.follow(0, over.signal);
  expect((await log.next()).value).toMatchObject({ seq: 1 });
  for (let i = 0; i < 5; i++) {
    await world.quiet();
    world.platform.advance(1000);
  }
  expect((await log.next()).value).toMatchObject({ seq: 2 });
  await session.request("r", [{ label: "c", tool: "echo", args: 1 }]);
  expect((await log.next()).value).toMatchObject({ seq: 3 });
  over.abort();
  await log.return(undefined);
  for (let i = 0; i < 5; i++) {
    await world.quiet();
    world.platform.advance(1000);
  }
  expect(runtime.inMemory).toBe(0);
});

it("leaves nothing behind at the signal of whoever reads no further", async () => {
  const session = await new World().start([echo]).runtime.session("s");
  await session.request("r", [{ label: "c", tool: "echo", args: 1 }]);
  const { signal } = new AbortController();
  for await (const { seq } of session.follow(0, signal)) if (seq === 2) break;
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
