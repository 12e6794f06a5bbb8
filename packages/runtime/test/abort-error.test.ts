/** Bodies that stop because their call was cancelled, each as the platform and its libraries have it. */
import { EventEmitter, once } from "node:events";
import { describe, expect, it } from "vitest";
import { type ToolContext, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const never = new EventEmitter();
const internal = { class: "internal", code: "tool_internal_error" };

/** What is replied of a call that is cancelled while it runs, and what its host is told of it. */
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
    "throws what its step threw of it": (_, ctx) =>
      ctx.runJson("wait", {}, async (_input, { signal }) => void (await once(never, "never", { signal }))),
  };
  it.each(Object.entries(ways))("is cancelled, and nobody's error, where it %s", async (_, execute) => {
    const { outcome, told } = await cancelled(execute);
    expect(outcome).toMatchObject({ status: "cancelled", payload: { message: "tool call cancelled" } });
    expect(told).toEqual([]);
  });
});

describe("a body that fails", () => {
  it("has an error of its own after a cancel, too", async () => {
    const bug = new Error("no such room");
    const { outcome, told } = await cancelled(
      (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(bug))),
    );
    expect(outcome).toMatchObject({ status: "failure", payload: internal });
    expect(told).toEqual([bug]);
  });
  it("is not cancelled by what another's signal says", async () => {
    const { outcome, told } = await cancelled(async (_, { signal }) => {
      await once(never, "never", { signal }).catch(() => undefined);
      await once(never, "never", { signal: AbortSignal.abort() });
    });
    expect(outcome).toMatchObject({ status: "failure", payload: internal });
    expect(told).toHaveLength(1);
  });
});
