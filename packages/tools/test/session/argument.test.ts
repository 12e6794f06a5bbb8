/** Arguments that the schemas of built-in tools accept, so that the tools themselves handle them. */
import type { WebPort } from "@pawl/tools";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { ToolWorld } from "./world.ts";

describe("a call", () => {
  it("for more days than a forecast has returns the most that there are", async () => {
    const world = new ToolWorld();
    const process = world.begin();
    const { status, payload } = await world.call(process, "get_forecast", { location: "Paris", days: 30 });
    expect(status).toBe("success");
    expect(payload).toMatchObject({ days: 7 });
  });
  it("for more files than the limit lists as many as the limit", async () => {
    const world = new ToolWorld();
    const process = world.begin();
    const listed = await world.call(process, "list_directory", { limit: 5000 });
    expect(listed).toMatchObject({ status: "success", payload: { limit: 1000 } });
    const found = await world.call(process, "grep_files", { pattern: "x", limit: 5000 });
    expect(found).toMatchObject({ status: "success", payload: { limit: 1000 } });
  });
  it("accepts the method in lower case", async () => {
    const world = new ToolWorld();
    const methods: string[] = [];
    const web: WebPort = async ({ method }) => {
      methods.push(method);
      return E.right({ status_code: 204 });
    };
    const process = world.begin([], { web });
    const { status } = await world.call(process, "web_fetch", { url: "https://example.com", method: "head" });
    expect([status, methods]).toEqual(["success", ["HEAD"]]);
    const { payload } = await world.call(process, "web_fetch", { url: "https://example.com", method: "POST" });
    expect(payload).toMatchObject({ message: "Invalid method: must be GET or HEAD" });
  });
  it("with extra fields in its todos gets back the known fields", async () => {
    const world = new ToolWorld();
    const process = world.begin();
    const todo = { content: "Write", activeForm: "Writing", status: "pending" };
    const { status, payload } = await world.call(process, "write_todos", { todos: [{ ...todo, priority: "high" }] });
    expect(status).toBe("success");
    expect(payload).toMatchObject({ todos: [todo] });
    expect(payload).not.toHaveProperty("todos[0].priority");
  });
});
