/** Two sessions, each of which awaits the process that the other one started. */
import { describe, expect, it } from "vitest";
import type { Process } from "../world.ts";
import { World } from "../world.ts";
import { deaths, program, toolCall } from "./world.ts";

const crossed = program("body", async ({ scope, processes, sleep }) => {
  const [own, other] = scope === "session:a" ? ["a", "b"] : ["b", "a"];
  await processes.start({ id: `of-${own}`, input: toolCall("work") });
  await processes.transferHandles(other, [`of-${own}`]);
  for (let i = 0; i < 20; i++) {
    const held = await processes.listHandlesFiltered(({ id }) => id === `of-${other}`);
    if (held.length > 0) break;
    await sleep(1000);
  }
  return processes.await(`of-${other}`);
});
const work = program("work", async ({ sleep, scope }) => {
  await sleep(5000);
  return `${scope} worked`;
});

const asked = async ({ runtime }: Process, id: string): Promise<unknown> => {
  const session = await runtime.session(id);
  const [reply] = await session.request("r", [{ label: "c", tool: "body", args: {} }]);
  return reply?.output.outcome.payload;
};

const worked = (of: string): object => ({ type: "success", value: `process:of-${of} worked` });

describe("two sessions that await each other's processes", () => {
  it("both hear of the end, wherever their runtime dies", async () => {
    for (const death of [undefined, ...deaths(14)]) {
      const world = new World();
      const heard: { ends?: readonly unknown[] } = {};
      for (let life = 0; life < 4 && heard.ends === undefined; life++) {
        const process = world.start([crossed, work], life === 0 && death !== undefined ? { death } : {});
        const both = process.runtime.recover().then(() => Promise.all([asked(process, "a"), asked(process, "b")]));
        both.then(
          (found) => void (heard.ends = found),
          () => undefined, // The runtime that died is followed by the next.
        );
        for (let i = 0; i < 30 && heard.ends === undefined && !process.isDead; i++) {
          await world.quiet(30);
          world.platform.advance(3000);
        }
        process.kill();
      }
      expect(heard.ends, `died ${death?.when} append ${death?.append}`).toEqual([worked("b"), worked("a")]);
    }
  });
});
