/** Whoever follows a log hears of each event, and of nothing else. */
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
  await session.call("r", [{ id: "c", tool: "echo", args: 1 }]);
  await next;
  expect(heard).toBe(seq + 1);
  over.abort();
});
