import { type ToolInvocationReply, modelReturn, replySuccess, successOutput } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { completedReply, fillReplies, launchesOf, pendingAwaitFailure, unavailableReply } from "../src/batch-reply.ts";
import type { ToolCallLaunch } from "../src/launch.ts";

const output = successOutput("ok");
const result = {
  call_id: "c",
  tool_name: "t",
  args: { x: 1 },
  output,
  model_return: modelReturn("c", "t", output),
  duration_ms: 5,
  replay: null,
};
const launch: ToolCallLaunch = { status: "done", result };
const batch = (launches: readonly ToolCallLaunch[]) => E.right({ type: "tool_batch" as const, launches, triggers: [] });

const textOf = (reply: ToolInvocationReply): unknown => {
  const { outcome } = reply.output;
  return outcome.status === "failure" ? [outcome.payload.message, outcome.payload.code, reply.record] : "no failure";
};

describe("a batch's answer", () => {
  it("is one launch for each prepared call", () => {
    expect(launchesOf(batch([launch]), 1)).toEqual(E.right([launch]));
  });
  it("tells all prepared calls of an error, of another kind of outcome, and of a miscount", () => {
    const told = [
      launchesOf(E.left({ code: "x", message: "gone" }), 1),
      launchesOf(E.right({ type: "sleep" }), 1),
      launchesOf(batch([launch]), 2),
      launchesOf(batch([]), 1),
    ].map((answer) => (E.isLeft(answer) ? textOf(answer.left) : "launches"));
    expect(told).toEqual([
      ["tool batch failed: x: gone", "tool_error", undefined],
      [
        "tool batch failed: runtime_effect_wrong_outcome: expected tool_batch outcome, got sleep",
        "tool_error",
        undefined,
      ],
      ["tool batch returned 1 launches for 2 prepared calls", "tool_error", undefined],
      ["tool batch returned 0 launches for 1 prepared calls", "tool_error", undefined],
    ]);
  });
});

describe("replies", () => {
  it("are filled in around those that are there", () => {
    const [a, b, c] = ["a", "b", "c"].map(replySuccess) as [
      ToolInvocationReply,
      ToolInvocationReply,
      ToolInvocationReply,
    ];
    expect(fillReplies([undefined, b, undefined], [a, c])).toEqual([a, b, c]);
  });
  it("are one for each place, or we are wrong", () => {
    expect(() => fillReplies([undefined], [])).toThrow("a call of the batch has no reply");
  });
  it("of a call that is over bring its record", () => {
    expect(completedReply(result)).toEqual({
      output,
      record: { call_id: "c", tool: "t", args: { x: 1 }, output, duration_ms: 5 },
    });
  });
  it("of a call whose tool is not there have it on record under its id", () => {
    const reply = unavailableReply({ id: "c", tool_id: "tool:x", args: [1] });
    expect(reply.output.outcome).toEqual({
      status: "failure",
      payload: {
        class: "unavailable",
        code: "tool_unavailable",
        message: "Tool id `tool:x` is unavailable in this session",
        source: "runtime",
        retry: { type: "never" },
      },
    });
    expect(reply.record).toEqual({
      call_id: "c",
      tool: "tool:x",
      args: [1],
      output: reply.output,
      duration_ms: 0,
    });
  });
});

it("a wait that could not be made is the runtime's failure", () => {
  expect(pendingAwaitFailure({ code: "a", message: "b" })).toEqual({
    class: "internal",
    code: "pending_tool_completion_failed",
    message: "a: b",
    source: "runtime",
    retry: { type: "never" },
  });
});
