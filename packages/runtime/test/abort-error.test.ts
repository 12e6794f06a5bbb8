/** Bodies that stop because their call was cancelled, each as the platform and its libraries have it. */
import { EventEmitter, once } from "node:events";
import { describe, expect, it } from "vitest";
import { type ToolContext, ToolError, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const never = new EventEmitter();
const internal = { class: "internal", code: "tool_internal_error" };

/** Returns what is replied of a call that is cancelled while it runs, and what its host is told of it. */
const cancelled = async (execute: (_: unknown, ctx: ToolContext) => unknown) => {
  const told: unknown[] = [];
  const host = { internalError: (_: string, thrown: unknown) => void told.push(thrown) };
  const world = new World();
  const tool = defineTool({ name: "stops", durable: true, execute });
  const session = await world.start([tool], { host }).runtime.session("s");
  const replies = session.request("r", [{ label: "c1", tool: "stops", args: {} }]);
  await world.quiet();
  await session.cancel({ request: "r" });
  return { outcome: (await replies)[0]?.output.outcome, told };
};

describe("a body that stops by its signal", () => {
  const ways: Readonly<Record<string, (_: unknown, ctx: ToolContext) => unknown>> = {
    "throws the signal's reason, as fetch does": (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
    "throws an AbortError with that cause, as Node does": (_, { signal }) => once(never, "never", { signal }),
    "throws an error of its SDK": (_, { signal }) =>
      new Promise((_resolve, reject) => {
        class APIUserAbortError extends Error {}
        signal.addEventListener("abort", () => reject(new APIUserAbortError("Request was aborted.")));
      }),
    "throws what its step threw of it": (_, ctx) =>
      ctx.run("wait", async ({ signal }) => void (await once(never, "never", { signal }))),
  };
  it.each(Object.entries(ways))("is cancelled, and nobody's error, where it %s", async (_, execute) => {
    const { outcome, told } = await cancelled(execute);
    expect(outcome).toMatchObject({ status: "cancelled", payload: { message: "tool call cancelled" } });
    expect(told).toEqual([]);
  });
});

describe("a body that fails", () => {
  it("after a cancel is cancelled, and its host is told of an error that has nothing to do with that", async () => {
    const bug = new Error("no such room");
    const { outcome, told } = await cancelled(
      (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(bug))),
    );
    expect(outcome).toMatchObject({ status: "cancelled" });
    expect(told).toEqual([bug]);
  });
  it("after a cancel by the tool's own word has failed by that", async () => {
    const { outcome } = await cancelled((_, { signal }) => {
      const said = new ToolError("the room is taken already");
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(said)));
    });
    expect(outcome).toMatchObject({ status: "failure", payload: { message: "the room is taken already" } });
  });
  it("by what another's signal says, before it is cancelled, has failed", async () => {
    const told: unknown[] = [];
    const world = new World();
    const tool = defineTool({ name: "stops", execute: () => once(never, "never", { signal: AbortSignal.abort() }) });
    const host = { internalError: (_: string, thrown: unknown) => void told.push(thrown) };
    const session = await world.start([tool], { host }).runtime.session("s");
    const [reply] = await session.request("r", [{ tool: "stops", args: {} }]);
    expect(reply?.output.outcome).toMatchObject({ status: "failure", payload: internal });
    expect(told).toHaveLength(1);
  });
});
