import { describe, expect, it } from "vitest";
import { Rig, tool } from "../rig.ts";
import { completed, execute, failure, replied, settle, started, submit, success, want } from "./words.ts";

const ended = (rig: Rig, output: ReturnType<typeof success>): Rig =>
  want(rig, started("a"), completed("a", output), replied(output));

describe("a call whose tool can not be called", () => {
  const missing = failure("unavailable", "tool_unavailable", "Tool is unavailable in this session");

  it("is unavailable when there is no tool of its name", () => {
    ended(submit(Rig.open([tool("echo")]), "other"), missing);
  });
  it("is unavailable when the tool is there and not callable", () => {
    ended(submit(Rig.open([tool("echo", { availability: "searchable" })]), "echo"), missing);
  });
  it("is unavailable while an override says so, and no longer", () => {
    const rig = Rig.open([tool("echo")]);
    rig.tell({ type: "catalog.overridden", names: ["echo"], availability: "off" });
    ended(submit(rig, "echo"), missing);
    rig.tell({ type: "reply.acked", request: "r" });
    rig.tell({ type: "catalog.overridden", names: ["echo"], availability: null });
    want(submit(rig, "echo"), started("a"), execute("r:a"));
  });
  it("is unavailable under its id, which the record then shows as its tool", () => {
    const rig = submit(Rig.open([tool("echo")]), { tool: "tool:other", by_id: true });
    const output = failure("unavailable", "tool_unavailable", "Tool id `tool:other` is unavailable in this session");
    want(rig, { ...started("a"), tool: "tool:other" }, completed("a", output), replied(output));
  });
  it("is unavailable under protocol 1 when the tool went away between preparation and launch", () => {
    const rig = submit(Rig.open([tool("echo", { prepares: true })], {}, 1), "echo");
    want(rig, { type: "tool.prepare", call: "r:a" });
    rig.tell({ type: "catalog.published", tools: [] });
    const preparation = { type: "prepared", tool_id: "tool:echo", args: {}, args_hash: "h", payload: null } as const;
    ended(rig.tell({ type: "call.prepared", call: "r:a", preparation }), missing);
  });
});

describe("the order of preparation", () => {
  const careful = tool("echo", { checks: true, prepares: true });

  it("is hooks, then arguments, then the tool's own, then the launch", () => {
    const rig = submit(Rig.open([careful], { before_hook: true }), "echo");
    want(rig, { type: "hook.run", call: "r:a", phase: "before", tool: "echo", args: { n: 0 } });
    rig.tell({ type: "hook.ran", call: "r:a", phase: "before", outcome: { status: "ok", directives: [] } });
    want(rig, { type: "args.check", call: "r:a", tool_id: "tool:echo", args: { n: 0 } });
    rig.tell({ type: "args.checked", call: "r:a", verdict: { verdict: "valid" } });
    want(rig, { type: "tool.prepare", call: "r:a", tool_id: "tool:echo", args: { n: 0 } });
    const preparation = {
      type: "prepared",
      tool_id: "tool:echo",
      args: { m: 1 },
      args_hash: "h",
      payload: { p: 1 },
    } as const;
    rig.tell({ type: "call.prepared", call: "r:a", preparation });
    want(rig, { ...started("a"), args: { m: 1 } }, { ...execute("r:a"), args: { m: 1 }, payload: { p: 1 } });
    want(settle(rig, "r:a", success("ok")), completed("a", success("ok")), replied(success("ok")));
  });
  it("is that of the calls: one is prepared after the other, and all before any starts", () => {
    const rig = submit(Rig.open([careful, tool("plain")]), "plain", "echo", "plain");
    want(rig, { type: "args.check", call: "r:b" });
    rig.tell({ type: "args.checked", call: "r:b", verdict: { verdict: "valid" } });
    want(rig, { type: "tool.prepare", call: "r:b" });
    const preparation = { type: "finished", output: success("at once") } as const;
    rig.tell({ type: "call.prepared", call: "r:b", preparation });
    const ends = [started("b"), completed("b", success("at once"))];
    want(rig, ...ends, started("a"), execute("r:a"), started("c"), execute("r:c"));
  });
  it("answers that nothing waits for are refused", () => {
    const rig = submit(Rig.open([careful]), "echo").skip();
    const ran = { type: "hook.ran", call: "r:a", phase: "before", outcome: { status: "ok", directives: [] } } as const;
    rig.refuses(ran, "wrong_phase");
    rig.refuses(
      { type: "call.prepared", call: "r:a", preparation: { type: "finished", output: success(1) } },
      "wrong_phase",
    );
    rig.refuses({ type: "args.checked", call: "r:b", verdict: { verdict: "valid" } }, "call_unknown");
    rig.nothingMore();
  });
});

describe("a preparation that fails ends the call, with duration 0", () => {
  const careful = tool("echo", { checks: true, prepares: true });
  const checked = (): Rig => submit(Rig.open([careful]), "echo").skip();

  it("by arguments that are not valid", () => {
    const rig = checked().tell({
      type: "args.checked",
      call: "r:a",
      verdict: { verdict: "invalid", message: "$.n: a string" },
    });
    ended(rig, failure("invalid_request", "invalid_tool_args", "$.n: a string"));
  });
  it("by a contract that is not there", () => {
    const rig = checked().tell({ type: "args.checked", call: "r:a", verdict: { verdict: "no_contract" } });
    ended(rig, failure("unavailable", "tool_contract_unavailable", "Tool contract is unavailable in this session"));
  });
  it("by a tool that prepares for another", () => {
    const rig = checked()
      .tell({ type: "args.checked", call: "r:a", verdict: { verdict: "valid" } })
      .skip();
    const preparation = { type: "prepared", tool_id: "tool:x", args: {}, args_hash: "h", payload: null } as const;
    rig.tell({ type: "call.prepared", call: "r:a", preparation });
    const message = "Tool provider prepared id `tool:x` for tool `echo`, expected `tool:echo`";
    ended(rig, failure("internal", "prepared_tool_id_mismatch", message));
  });
  it("and its reply says so", () => {
    const rig = checked().tell({ type: "args.checked", call: "r:a", verdict: { verdict: "no_contract" } });
    rig.wants(started("a") as never);
    rig.wants({ ...completed("a"), duration_ms: 0 } as never);
    rig.wants({ type: "reply" });
    rig.nothingMore();
    expect(rig.state.requests.at("r")).toMatchObject({ replies: [{ call_id: "a", tool: "echo", duration_ms: 0 }] });
  });
});
