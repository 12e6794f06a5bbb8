/** Tests what programs say that no log could give back: it is refused where it is said, and the scope opens again. */
import { done, pending } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { EffectError, type HostPort, type ToolContext, type ToolDefinition, defineTool } from "../../src/index.ts";
import { World } from "../world.ts";

/** A tool's words in JavaScript, where no types are looked at. */
type Loose = (ctx: any) => unknown; // oxlint-disable-line typescript/no-explicit-any -- what a caller without types does

const lone = "\ud800";
const circle: { self?: unknown } = {};
circle.self = circle;

/** Makes the call, ends its process, and opens the session again: what came of it, and what its body heard. */
const lived = async (tool: Omit<ToolDefinition, "name" | "execute">, body: Loose, host: HostPort = {}) => {
  const heard: unknown[] = [];
  const execute = async (_: unknown, ctx: ToolContext): Promise<unknown> => {
    try {
      return await body(ctx);
    } catch (thrown) {
      heard.push((thrown as { readonly code?: string }).code, (thrown as Error).message);
      throw thrown;
    }
  };
  const tools = [defineTool({ durable: true, ...tool, name: "t", execute })];
  const world = new World();
  const first = world.start(tools, { host });
  const session = await first.runtime.session("s");
  const replies = session.request("r", [{ label: "c", tool: "t", args: {} }], { keep: true });
  for (let i = 0; i < 3; i++) {
    await world.quiet();
    world.platform.advance(1000);
  }
  const [reply] = await replies;
  first.kill();
  const again = await world.start(tools, { host }).runtime.session("s");
  expect(again.state.requests.at("r")).toMatchObject({ replies: [{ output: reply?.output }] });
  return { heard, payload: reply?.output.outcome.payload };
};

const asked: { readonly [what: string]: readonly [body: Loose, where: string] } = {
  "a sleep of no time": [(ctx) => ctx.sleep(Number.NaN), "$.effect.ms"],
  "a sleep without end": [(ctx) => ctx.sleep(Infinity), "$.effect.ms"],
  "a step under a broken name": [(ctx) => ctx.run(lone, () => 1, { input: null }), "$.key"],
  "a step with a recovery that there is not": [
    (ctx) => ctx.run("a", () => 1, { input: null, recovery: "sometimes" }),
    "`sometimes`",
  ],
  "a call under a broken id": [(ctx) => ctx.callAll([{ label: lone, tool: "t", args: {} }]), "calls[0].id"],
  "a request of a broken name": [(ctx) => ctx.host(lone, null), "$.key"],
  "a signal whose name is a number": [(ctx) => ctx.processes.signal("p", 5, null), "$.effect.message.name"],
  "the end of a process of a broken name": [(ctx) => ctx.processes.await(lone), "$.key"],
  "handles of a broken name": [(ctx) => ctx.processes.validateHandles([lone]), "process:validate"],
  "a call apart under a broken id": [(ctx) => ctx.handleTools.startToolCall(lone, "t", {}), "$.key"],
  "an event after no place": [(ctx) => ctx.processEvents.waitEventAfter("e", Number.NaN), "outside a durable process"],
};

describe("a body that asks for", () => {
  it.each(Object.entries(asked))("%s hears where it does not fit", async (_, [body, where]) => {
    const { heard } = await lived({}, body);
    expect(heard).toEqual([
      expect.stringMatching(/^(durable_effect_value|process_events_unavailable)$/),
      expect.anything(),
    ]);
    expect(heard[1]).toContain(where);
  });

  it("tasks and schedules that are none hears what they lack", async () => {
    expect((await lived({}, (ctx) => ctx.tasks.create({}))).heard[1]).toContain("missing field `kind` at $.task");
    const schedule = await lived({}, (ctx) => ctx.schedules.create({}));
    expect(schedule.heard[1]).toContain("missing field `description`");
  });

  it("a part of a millisecond, or less than none, gets whole ones", async () => {
    const { payload } = await lived({}, async (ctx) => {
      const from = ctx.now();
      await ctx.sleep(0.25);
      await ctx.sleep(-5);
      const late = await ctx.waitFor("k", { timeoutMs: 1.5 }).catch(({ code }: EffectError) => code);
      return [ctx.now() - from > 0, late];
    });
    expect(payload).toEqual([true, "durable_effect_event_timeout"]);
  });

  it("calls of itself without end is stopped some way down", async () => {
    const depths: string[] = [];
    const { payload } = await lived({}, async (ctx) => {
      depths.push(ctx.toolCallId);
      const [below] = await ctx.callAll([{ label: "c", tool: "t", args: {} }]).catch(({ code }: EffectError) => [code]);
      return typeof below === "string" ? below : below.output.outcome.payload;
    });
    expect(payload).toBe("tool_batch_too_deep");
    expect(depths).toHaveLength(33);
  });
});

const thrownThings: { readonly [what: string]: unknown } = {
  "an error whose code is a number": new EffectError(5 as never, 5 as never),
  "an error of broken texts": new EffectError(lone, lone),
};

describe("a step that throws", () => {
  it.each(Object.entries(thrownThings))("%s fails with texts", async (_, thrown) => {
    const { heard } = await lived({}, (ctx) =>
      ctx.run(
        "a",
        () => {
          throw thrown;
        },
        { input: null },
      ),
    );
    expect(heard.map((text) => typeof text === "string" && text.isWellFormed())).toEqual([true, true]);
  });
});

const made = done({ outcome: { status: "nope" } } as never) as never;

const results: { readonly [what: string]: readonly [result: () => unknown, why: string] } = {
  "a status that there is not": [() => done({ outcome: { status: "nope" } } as never), "missing field `outcome`"],
  "no output": [() => done(undefined as never), "outcome"],
  "a control that there is not": [
    () => done({ outcome: { status: "success", payload: null }, control: { type: "nope" } } as never),
    "struct ToolCallOutput",
  ],
  "a value that is none": [
    () => done({ outcome: { status: "success", payload: new Date(0) as never } }),
    "struct ToolCallOutput",
  ],
  "a failure without a message": [
    () => done({ outcome: { status: "failure", payload: { class: "execution" } } } as never),
    "missing field `code`",
  ],
  "a deadline of half a second": [() => pending({ deadline: { secs: 0.5, nanos: 0 } }), "$.deadline.secs"],
  "a deadline of less than none": [() => pending({ deadline: { secs: -1, nanos: 0 } }), "$.deadline.secs"],
};

describe("a result that was made by hand, with", () => {
  it.each(Object.entries(results))("%s is the tool's error", async (_, [result, why]) => {
    const { payload } = await lived({}, (ctx) => (ctx.completionKey(), result()));
    expect(payload).toMatchObject({ code: "tool_error", source: "tool" });
    expect((payload as { readonly message: string }).message).toContain("Failed to serialize tool result: ");
    expect((payload as { readonly message: string }).message).toContain(why);
  });

  it("the same from its preparation is too", async () => {
    expect((await lived({ prepare: () => made }, () => null)).payload).toMatchObject({ code: "tool_error" });
  });
});

describe("a host that answers", () => {
  it("nothing has answered null", async () => {
    const host = { request: async () => undefined as never };
    expect((await lived({}, (ctx) => ctx.host("now", null), host)).payload).toBeNull();
  });

  it.each([new Date(0), circle, () => 1])("what is no JSON is the body's error, with the reason", async (answer) => {
    const { heard } = await lived({}, (ctx) => ctx.host("now", null), { request: async () => answer as never });
    expect(heard).toEqual(["host_answer_invalid", expect.stringMatching(/^the answer to `now`: /)]);
  });

  it("for its plugins what is none is told as their hook's error, before the call and after it", async () => {
    const directives = [{ kind: "replace_tool_args", args: new Date(0) as never }] as const;
    const before = { plugins: [{ id: "p", beforeToolCall: () => directives }] };
    expect((await lived({}, () => 1, before)).payload).toMatchObject({ code: "before_tool_call_failed" });
    const after = { plugins: [{ id: "p", afterToolCall: () => [{ kind: "nope" }] as never }] };
    expect((await lived({}, () => 1, after)).payload).toMatchObject({ code: "after_tool_call_failed" });
  });

  it("for its projector what is none shows the model what is wrong", async () => {
    const host = { project: () => [{ type: "text" }] as never };
    const world = new World();
    const session = await world.start([defineTool({ name: "t", execute: () => 1 })], { host }).runtime.session("s");
    const [reply] = await session.request("r", [{ label: "c", tool: "t", args: {} }]);
    expect(reply?.parts).toEqual([{ type: "text", text: expect.stringContaining("missing field `text` at $[0]") }]);
  });
});

describe("a calendar that answers what is no plan", () => {
  it("is none: a new schedule is refused", async () => {
    const said = { name: "n", description: "d", cron_expression: "* * * * *", timezone: "UTC", message: "m" };
    const host = { plan: () => ({ next: Number.NaN }) as never };
    const { heard, payload } = await lived({}, (ctx) => ctx.schedules.create({ ...said, recurring: true }), host);
    expect([...heard, payload]).toEqual([{ status: "refused", message: expect.any(String) }]);
  });
});

describe("a caller of a session", () => {
  it("is told where what it says does not fit, and nothing is recorded", async () => {
    const tool = defineTool({ name: "t", needsApproval: true, execute: () => 1 });
    const world = new World();
    const session = await world.start([tool]).runtime.session("s");
    void session.request("r", [{ label: "c", tool: "t", args: {} }]);
    await world.quiet();
    const { seq } = session.state;
    const decision = { hash: "h", by: 5 as never };
    await expect(session.approve("r:c", decision)).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(session.cancel({ call: "r:c" }, lone)).rejects.toMatchObject({ code: "invalid_argument" });
    for (const wrong of [{ executionScope: 5 }, { by: lone }, { traceparent: 7 }]) {
      await expect(session.request("r2", [], wrong as never)).rejects.toMatchObject({ code: "invalid_argument" });
    }
    await expect(
      session.report({ type: "catalog.overridden", names: [5 as never], availability: null }),
    ).rejects.toThrow();
    await expect(session.resolveById("k", { status: "ok", payload: null }, 7 as never)).rejects.toThrow(
      "by: invalid type",
    );
    const nowhere = session.request("r2", [], { executionScope: " " });
    await expect(nowhere).rejects.toMatchObject({ code: "missing_execution_scope_id" });
    expect(session.state.seq).toBe(seq);
  });
});
