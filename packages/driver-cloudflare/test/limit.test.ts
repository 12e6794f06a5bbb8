/** Objects share no store, so no limit would hold over them. */
import { Registry, defineTool } from "@pawl/runtime";
import { expect, it } from "vitest";
import { refuseLimits } from "../src/open.ts";

it("refuses a tool with a limit, by its name", () => {
  const free = defineTool({ name: "free", execute: () => 1 });
  const render = defineTool({ name: "render", limit: { concurrency: 1 }, execute: () => 1 });
  expect(() => refuseLimits(new Registry([free]))).not.toThrow();
  expect(() => refuseLimits(new Registry([free, render]))).toThrow(
    "tool `render` has a `limit`, and Durable Objects share no",
  );
});
