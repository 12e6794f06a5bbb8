import type { ToolCallOutput } from "@pawl/tool-value";
import { describe, it } from "vitest";
import type { Directive } from "../../src/call/vocabulary.ts";
import { Rig, tool } from "../rig.ts";
import {
  cancelled,
  completed,
  execute,
  failure,
  replied,
  running,
  settle,
  started,
  submit,
  success,
  want,
} from "./words.ts";

const ran = (rig: Rig, phase: "before" | "after", ...directives: readonly Directive[]): Rig =>
  rig.tell({ type: "hook.ran", call: "r:a", phase, outcome: { status: "ok", directives } });

/** A call whose hooks before it have run. */
const before = (...directives: readonly Directive[]): Rig =>
  ran(running({}, { before_hook: true }), "before", ...directives);

/** A call that its body has ended, and whose hooks after it have run. */
const after = (...directives: readonly Directive[]): Rig => {
  const rig = running({}, { after_hook: true });
  return ran(settle(rig, "r:a", success("body")).skip(), "after", ...directives);
};

const toolError = (message: string): ToolCallOutput =>
  ({
    outcome: {
      status: "failure",
      payload: {
        class: "execution",
        code: "tool_error",
        message,
        source: "tool",
        retry: { type: "never" },
        raw: message,
      },
    },
  }) as ToolCallOutput;

const short = (rig: Rig, output: ToolCallOutput): Rig =>
  want(rig, started("a"), completed("a", output), replied(output));
const ends = (rig: Rig, output: ToolCallOutput): Rig => want(rig, completed("a", output), replied(output));
const runs = (rig: Rig, args: object): Rig => want(rig, started("a"), { ...execute("r:a"), args: args as never });

describe("a hook before the call", () => {
  it("that says nothing lets it run", () => {
    runs(before(), { n: 0 });
  });
  it("that fails ends it", () => {
    const rig = submit(Rig.open([tool("echo")], { before_hook: true }), "echo").skip();
    rig.tell({ type: "hook.ran", call: "r:a", phase: "before", outcome: { status: "err", message: "broken" } });
    short(rig, failure("internal", "before_tool_call_failed", "broken"));
  });
  it("replaces arguments, the last word counts, and what follows sees them", () => {
    runs(before({ kind: "replace_tool_args", args: 1 }, { kind: "replace_tool_args", args: { m: 2 } }), { m: 2 });
    const rig = submit(Rig.open([tool("echo", { checks: true })], { before_hook: true }), "echo").skip();
    want(ran(rig, "before", { kind: "replace_tool_args", args: { m: 2 } }), { type: "args.check", args: { m: 2 } });
  });
  it("short-circuits with the last output, after all directives were applied", () => {
    const first = { kind: "short_circuit_tool", output: success("first") } as const;
    const last = { kind: "short_circuit_tool", output: success("last") } as const;
    const rig = before(first, last, { kind: "replace_tool_args", args: { m: 2 } });
    want(rig, { ...started("a"), args: { m: 2 } }, completed("a", success("last")), replied(success("last")));
  });
  it("that aborts the turn is an error of the tool", () => {
    short(before({ kind: "abort_turn", code: "c", message: "enough" }), toolError("enough"));
  });
  it("creates a session; one that can not be created is the end, and stops the list", () => {
    runs(before({ kind: "create_session" }), { n: 0 });
    const later = { kind: "short_circuit_tool", output: success("later") } as const;
    short(before({ kind: "create_session", error: "no session" }, later), toolError("no session"));
  });
  it("may not queue messages", () => {
    short(before({ kind: "enqueue_messages" }), toolError("before_tool_call does not support message injection"));
  });
  it("emits events and traces; a trace that fails is the end, and stops the list", () => {
    runs(before({ kind: "emit_runtime_events" }, { kind: "emit_trace" }), { n: 0 });
    const later = { kind: "replace_tool_args", args: { m: 2 } } as const;
    const rig = before({ kind: "emit_trace", error: "no trace" }, later);
    want(
      rig,
      { ...started("a"), args: { n: 0 } },
      completed("a", toolError("no trace")),
      replied(toolError("no trace")),
    );
  });
});

describe("a hook after the call", () => {
  it("that says nothing leaves the result", () => {
    ends(after(), success("body"));
  });
  it("that fails replaces the result", () => {
    const rig = running({}, { after_hook: true });
    want(settle(rig, "r:a", success("body")), {
      type: "hook.run",
      phase: "after",
      output: success("body"),
      duration_ms: 5,
    });
    rig.tell({ type: "hook.ran", call: "r:a", phase: "after", outcome: { status: "err", message: "broken" } });
    ends(rig, failure("internal", "after_tool_call_failed", "broken"));
  });
  it("may not replace arguments", () => {
    const message =
      "after_tool_call only supports abort, short-circuit, session creation, events, and message injection";
    ends(after({ kind: "replace_tool_args", args: {} }), toolError(message));
  });
  it("short-circuits and aborts in the order of the list", () => {
    const replaced = { kind: "short_circuit_tool", output: success("hook") } as const;
    ends(after(replaced), success("hook"));
    ends(after(replaced, { kind: "abort_turn", code: "c", message: "enough" }), toolError("enough"));
    ends(after({ kind: "abort_turn", code: "c", message: "enough" }, replaced), success("hook"));
  });
  it("creates sessions; one that can not be created is internal, and stops the list", () => {
    const later = { kind: "short_circuit_tool", output: success("later") } as const;
    ends(after({ kind: "create_session" }), success("body"));
    const output = failure("internal", "plugin_session_create_failed", "no session");
    ends(after({ kind: "create_session", error: "no session" }, later), output);
  });
  it("queues messages and traces; what fails replaces the result, and stops the list", () => {
    const later = { kind: "short_circuit_tool", output: success("later") } as const;
    ends(after({ kind: "enqueue_messages" }, { kind: "emit_trace" }, { kind: "emit_runtime_events" }), success("body"));
    ends(after({ kind: "enqueue_messages", error: "no queue" }, later), toolError("no queue"));
    ends(after({ kind: "emit_trace", error: "no trace" }, later), toolError("no trace"));
  });
  it("does not run for a call that ended in preparation", () => {
    short(
      submit(Rig.open([], { after_hook: true }), "echo"),
      failure("unavailable", "tool_unavailable", "Tool is unavailable in this session"),
    );
  });
  it("does not run for a call that was cancelled before it started", () => {
    const rig = submit(Rig.open([tool("echo", { prepares: true })], { after_hook: true }), "echo").skip();
    short(rig.tell({ type: "request.cancelled", request: "r" }), cancelled("tool call cancelled"));
  });
});

describe("the projection", () => {
  it("has the last word on what the model is told", () => {
    const rig = submit(Rig.open([tool("echo")], { projection: true, after_hook: true }), "echo").skip();
    want(settle(rig, "r:a", success("body")), { type: "hook.run", phase: "after" });
    want(ran(rig, "after"), { type: "result.project", call: "r:a", tool: "echo", output: success("body") });
    const parts = [{ type: "text", text: "short" }];
    rig.tell({ type: "result.projected", call: "r:a", parts });
    const reply = { call_id: "a", output: success("body"), parts };
    want(rig, completed("a", success("body")), { type: "reply", replies: [reply] as never });
  });
});
