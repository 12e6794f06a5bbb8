/** Schemas as pages look at them: the validator is loaded when the first call needs it. */
import { expect, it, vi } from "vitest";

vi.mock("../../src/part.ts", () => import("../../src/part-later.ts"));
const { defineTool } = await import("../../src/index.ts");
const { World } = await import("../world.ts");

it("that are none end the call that is held against them, and the host is told", async () => {
  const bad = defineTool({ name: "bad", parameters: { type: "strng" }, execute: () => "never" });
  const good = defineTool({ name: "good", parameters: { type: "object" }, execute: () => "done" });
  const told: unknown[] = [];
  const { runtime } = new World().start([bad, good], { host: { internalError: (_, thrown) => told.push(thrown) } });
  const session = await runtime.session("s");
  const outcome = async (tool: string) => (await session.call(tool, [{ id: "c", tool, args: {} }]))[0]?.output.outcome;
  expect(await outcome("bad")).toMatchObject({ payload: { code: "invalid_tool_args" } });
  expect(await outcome("good")).toMatchObject({ payload: "done" });
  expect(told).toMatchObject([{ code: "invalid_tool", message: expect.stringMatching(/type: expected .*"strng"/) }]);
  expect(() => defineTool({ name: "late", parameters: { type: "strng" }, execute: () => 1 })).toThrow("type: expected");
});
