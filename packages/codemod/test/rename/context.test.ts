import { describe, expect, it } from "vitest";
import { call } from "../../src/rename/call.ts";
import { progress } from "../../src/rename/progress.ts";
import { wait } from "../../src/rename/wait.ts";
import { rewritten } from "./frame.ts";

describe("waits", () => {
  it.each([
    ['ctx.awaitEventJson("go")', 'ctx.waitFor("go")'],
    ['ctx.awaitEventJson("go", { deadlineMs: 5, for: "call" })', 'ctx.waitFor("go", { timeoutMs: 5, for: "call" })'],
    ['ctx.awaitEventJson("go", ms ? { deadlineMs: ms } : {})', 'ctx.waitFor("go", ms ? { timeoutMs: ms } : {})'],
    ['ctx.externalEventKey("go", { for: "request" })', 'ctx.token("go", { for: "request" })'],
    [
      'program("idle", ({ awaitEventJson }) => awaitEventJson("go"))',
      'program("idle", ({ waitFor }) => waitFor("go"))',
    ],
    ["ctx.onCancel(undo, { deadlineMs: 5 })", "ctx.onCancel(undo, { deadlineMs: 5 })"],
    ['type O = Parameters<ToolContext["externalEventKey"]>[1];', 'type O = Parameters<ToolContext["token"]>[1];'],
  ])("%s", (before, after) => expect(rewritten(wait, before)).toBe(after));
});

describe("calls of other tools", () => {
  it.each([
    ['ctx.batch([{ id: "x", toolId: "tool:pay", args: {} }])', 'ctx.callAll([{ label: "x", tool: "pay", args: {} }])'],
    [
      "ctx.batch(all.map(({ id, toolId, args }) => ({ id, toolId, args })))",
      "ctx.callAll(all.map(({ id, toolId, args }) => ({ label: id, tool: toolId, args })))",
    ],
    ["draft.batch(ref)", "draft.batch(ref)"],
    ["async (_, { batch, race }) => race([batch(calls)])", "async (_, { callAll, race }) => race([callAll(calls)])"],
  ])("%s", (before, after) => expect(rewritten(call, before)).toBe(after));
});

describe("progress", () => {
  it.each([
    ['ctx.progress({ text: "half", kind: "info" })', 'ctx.progress({ message: "half", kind: "info" })'],
    ["sink.progress({ current: 1, total: 2 })", "sink.progress({ current: 1, total: 2 })"],
    ["terminal.progress(text)", "terminal.progress(text)"],
  ])("%s", (before, after) => expect(rewritten(progress, before)).toBe(after));
});
