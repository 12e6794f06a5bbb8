/** Mutated messages: each is answered, and the server goes on. */
import { defineTool } from "@pawl/runtime";
import { afterEach, expect, it } from "vitest";
import { elicit } from "../src/index.ts";
import { fuzz } from "./fuzz.ts";
import { type Opened, openServer } from "./open.ts";

let open: Opened | undefined;
afterEach(() => open?.end());

const echo = defineTool({ name: "echo", execute: (args) => args });
const asks = defineTool({
  name: "ask",
  durable: true,
  execute: async (_: unknown, context) =>
    (await elicit(context, "name", { message: "?", requestedSchema: { type: "object", properties: {} } })).action,
});

it("3,000 mutated messages of JSON-RPC are answered, none by an error of the server", async () => {
  open = openServer([echo, asks], { immediateMs: 0 });
  const { taskId } = (await open.call("ask")).result;
  const seed = 20_261_120;
  const { messages, statuses, wrong } = await fuzz(open, seed, 3000, [taskId, "", "x.y"]);
  expect(wrong, `seed ${seed}`).toEqual([]);
  expect(Object.values(statuses).reduce((sum, count) => sum + count)).toBe(messages);
  expect(statuses[200]).toBeGreaterThan(100);
  expect((await open.call("echo", { a: 1 })).result).toMatchObject({ structuredContent: { a: 1 } });
});
