/** The tools by which programs use processes as values. */
import { describe, expect, it } from "vitest";
import { type Plugin, defineTool } from "../../src/index.ts";
import { program, reply } from "./world.ts";

describe("the handle tools", () => {
  const strict = defineTool({
    name: "strict",
    durable: true,
    inputSchema: { type: "object", required: ["n"] },
    prepare: () => ({ ready: true }),
    execute: async (_, ctx) => ({ payload: ctx.payload }),
  });
  const listening = program("listening", ({ processEvents }) => processEvents.awaitSignal("go"));

  it("start a call apart, and await its output", async () => {
    const found = (await reply(
      async ({ handleTools }) => {
        const started = await handleTools.startToolCall("x", "strict", { n: 1 });
        const handle = (started.output.outcome as unknown as { readonly payload: never }).payload;
        return [started, await handleTools.awaitProcess("y", handle)];
      },
      [strict],
    )) as readonly { readonly output: unknown; readonly record: unknown }[];
    const handle = { __handle__: "process", id: "s/r/b/x" };
    expect(found[0]).toMatchObject({
      output: { outcome: { status: "success", payload: handle } },
      record: { call_id: "x", tool: "strict", args: { n: 1 }, duration_ms: 0 },
    });
    expect(found[1]).toMatchObject({
      output: { outcome: { status: "success", payload: { payload: { ready: true } } } },
      record: { call_id: "y", tool: "await_process", args: { handle } },
    });
  });

  it("run the hooks before such a call, as before every call", async () => {
    const heard: unknown[] = [];
    const plugin: Plugin = {
      id: "p",
      beforeToolCall: ({ callId, tool, args }) => {
        heard.push([callId, tool, args]);
        if (callId === "z") return [{ kind: "replace_tool_args", args: new Date(0) as never } as const];
        if (callId === "x") return [{ kind: "replace_tool_args", args: { n: 7 } } as const];
        return callId === "y" ? [{ kind: "abort_turn", code: "no", message: "not today" } as const] : [];
      },
    };
    const found = (await reply(
      async ({ handleTools }) => [
        await handleTools.startToolCall("x", "strict", {}),
        await handleTools.startToolCall("y", "strict", { n: 1 }),
        await handleTools.startToolCall("z", "strict", { n: 1 }),
      ],
      [strict],
      { plugins: [plugin] },
    )) as readonly unknown[];
    expect(found).toMatchObject([
      { output: { outcome: { status: "success" } }, record: { call_id: "x", args: { n: 7 } } },
      { output: { outcome: { status: "failure", payload: { message: "not today" } } }, record: { call_id: "y" } },
      { output: { outcome: { status: "failure", payload: { code: "before_tool_call_failed" } } } },
    ]);
    expect(heard).toEqual([
      ["b", "body", {}],
      ["x", "strict", {}],
      ["y", "strict", { n: 1 }],
      ["z", "strict", { n: 1 }],
    ]);
  });

  it("answer at once where the call can not be prepared", async () => {
    const found = await reply(
      async ({ handleTools }) => [
        (await handleTools.startToolCall("x", "strict", {})).output.outcome,
        (await handleTools.startToolCall("y", "nobody", {})).output.outcome,
      ],
      [strict],
    );
    expect(found).toMatchObject([
      { status: "failure", payload: { class: "invalid_request", code: "invalid_tool_args" } },
      { payload: { class: "unavailable", code: "tool_unavailable", message: "Tool is unavailable in this session" } },
    ]);
  });

  it("say what is wrong in their own words", async () => {
    const handle = { __handle__: "process", id: "stranger", note: "more" };
    const refusal = "process handle `stranger` is not live or visible in this session";
    const found = (await reply(
      async ({ handleTools }) => [
        await handleTools.awaitProcess("1", {}),
        await handleTools.cancelProcess("2", { __handle__: "file" }),
        await handleTools.awaitProcess("3", handle),
        await handleTools.signalProcess("4", handle, "go", 1),
        await handleTools.cancelProcess("5", handle),
      ],
      [listening],
    )) as readonly { readonly output: { readonly outcome: { readonly payload: { readonly message: string } } } }[];
    expect(found.map(({ output }) => output.outcome.payload.message)).toEqual([
      "Invalid process handle: missing `__handle__`",
      "Invalid process handle kind: file",
      refusal,
      `signal failed: ${refusal}`,
      `cancel failed: ${refusal}`,
    ]);
    expect(found[3]).toMatchObject({
      record: { tool: "signal_process", args: { handle, signal_name: "go", payload: 1 } },
    });
  });

  it("cancel what they started", async () => {
    const idle = program("idle", ({ waitFor }) => waitFor("never"));
    const found = await reply(
      async ({ handleTools }) => {
        const started = await handleTools.startToolCall("x", "idle", {});
        const handle = (started.output.outcome as unknown as { readonly payload: never }).payload;
        const cancelled = await handleTools.cancelProcess("y", handle);
        const end = await handleTools.awaitProcess("z", handle);
        return [cancelled.output.outcome, end.output.outcome];
      },
      [idle],
    );
    expect(found).toMatchObject([
      { status: "success", payload: { process_id: "s/r/b/x", status: "running" } },
      { status: "cancelled", payload: { source: "cancellation" } },
    ]);
  });
});
