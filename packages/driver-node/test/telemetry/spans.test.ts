/** Spans as an SDK exports them: which ones, their parents, and none without a tracer. */
import { SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { type HostPort, Runtime, type ToolDefinition, defineTool, memoryJournal } from "@pawl/runtime";
import type { ModelPort } from "@pawl/runtime/driver";
import { describe, expect, it } from "vitest";
import { nodePlatform, spansOf, tracedJournal } from "../../src/index.ts";
import { clientOf, hostOf, roots } from "../host/rig.ts";
import { echo, use } from "../host/tools.ts";
import { until } from "../until.ts";

const steps = defineTool({
  name: "steps",
  durable: true,
  execute: async (_, ctx) => {
    await ctx.run("one", () => "secret result", { input: { secret: "hidden" } });
    await ctx.run("two", () => Promise.reject(new Error("no"))).catch(() => undefined);
    return 1;
  },
});
const parent = defineTool({
  name: "parent",
  durable: true,
  execute: async (_, ctx) => {
    await ctx.callAll([{ label: "x", tool: "echo", args: {} }]);
    return 1;
  },
});
const failing = defineTool({
  name: "failing",
  execute: () => {
    throw new Error("inside");
  },
});

/** A model that looks first, and then says what it saw. */
const model: ModelPort = {
  ask: async ({ prompt }) => {
    const hasSeen = prompt.some(({ role }) => role === "tool");
    const part = hasSeen
      ? ({ type: "text", text: "I saw it." } as const)
      : ({ type: "tool-call", id: "c-1", tool: "echo", args: { secret: "hidden" } } as const);
    return {
      pieces: [{ b: 0, part }],
      finish: { reason: hasSeen ? "stop" : "tool-calls" },
      usage: { input_tokens: 10, output_tokens: 5 },
      model_id: "m-2026",
      provider_id: "answer-1",
    };
  },
};
const hostWith = (port: ModelPort): HostPort => ({
  models: () => port,
  agents: () => ({ routes: [{ provider: "acme", model: "m" }] }),
});

const traced = (
  tools: readonly ToolDefinition[],
  journal = memoryJournal(),
  instance = "i1",
  options: Parameters<typeof spansOf>[1] = {},
  host = hostWith(model),
) => {
  const exporter = new InMemorySpanExporter();
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer("test");
  const telemetry = spansOf(tracer, options);
  const runtime = new Runtime({
    journal: tracedJournal(journal, tracer, telemetry),
    telemetry,
    platform: nodePlatform,
    tools,
    instance,
    roots,
    host,
  });
  const named = (name: string): readonly ReadableSpan[] =>
    exporter.getFinishedSpans().filter((span) => span.name === name || span.name.startsWith(`${name} `));
  return { runtime, named, exporter };
};
const idOf = (span: ReadableSpan | undefined): string | undefined => span?.spanContext().spanId;
const parentOf = (span: ReadableSpan | undefined): string | undefined => span?.parentSpanContext?.spanId;

describe("spans", () => {
  it("cover batches, calls, effects and commits, below the caller's span", async () => {
    const { runtime, named, exporter } = traced([steps]);
    const host = await hostOf([], { runtime });
    const [traceId, spanId] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
    const traceparent = `00-${traceId}-${spanId}-01`;
    await clientOf(host).session("s").request("r", use("steps"), { traceparent });
    await until(() => named("pawl.batch").length === 1);
    const [[batch], [call], effects] = [named("pawl.batch"), named("execute_tool"), named("pawl.effect")];
    expect(batch?.spanContext()).toMatchObject({ traceId, traceFlags: TraceFlags.SAMPLED });
    expect(parentOf(batch)).toBe(spanId);
    expect(batch?.attributes).toMatchObject({ "pawl.scope": "session:s", "pawl.request": "r", "pawl.calls": 1 });
    expect(parentOf(call)).toBe(idOf(batch));
    expect(call?.attributes).toMatchObject({ "pawl.tool": "steps", "pawl.outcome": "success", "pawl.call": "r:c" });
    expect(effects.map(({ attributes }) => attributes["pawl.effect"])).toEqual(["step", "step"]);
    expect(effects.map(parentOf)).toEqual([idOf(call), idOf(call)]);
    expect(effects.map(({ status }) => status.code)).toEqual([SpanStatusCode.UNSET, SpanStatusCode.ERROR]);
    const commits = named("pawl.commit");
    expect(commits.length).toBeGreaterThan(2);
    expect(commits.map(parentOf).filter((id) => id !== idOf(batch)).length).toBeLessThanOrEqual(1); // The opening.
    expect(commits[0]?.attributes).toMatchObject({ "pawl.scopes": 1, "pawl.events": expect.any(Number) });
    const said = exporter.getFinishedSpans().map(({ attributes }) => JSON.stringify(attributes));
    expect(said.join()).not.toMatch(/hidden|secret/);
  });

  it("follow the conventions for generative AI: an agent's turn, its model calls and its tools", async () => {
    const { runtime, named, exporter } = traced([echo]);
    const session = await runtime.session("s");
    await session.turn("t", "Look.", { agent: "looker" });
    const [[agent], chats, [tool]] = [named("invoke_agent"), named("chat"), named("execute_tool")];
    expect(agent?.name).toBe("invoke_agent looker");
    expect(agent?.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "looker",
      "gen_ai.conversation.id": "s",
      "pawl.request": "t",
    });
    expect(chats.map(({ name, kind }) => [name, kind])).toEqual([
      ["chat m", SpanKind.CLIENT],
      ["chat m", SpanKind.CLIENT],
    ]);
    expect(chats.map(({ attributes }) => attributes["gen_ai.response.finish_reasons"])).toEqual([
      ["tool-calls"],
      ["stop"],
    ]);
    expect(chats[0]?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "acme",
      "gen_ai.request.model": "m",
      "gen_ai.response.model": "m-2026",
      "gen_ai.response.id": "answer-1",
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 5,
    });
    expect(tool?.name).toBe("execute_tool echo");
    expect(tool?.attributes).toMatchObject({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "echo" });
    expect([...chats, tool].map(parentOf)).toEqual(Array(3).fill(idOf(agent)));
    expect(JSON.stringify(exporter.getFinishedSpans().map(({ attributes }) => attributes))).not.toContain("hidden");
    await session.turn("t", "Look.", { agent: "looker" });
    expect(named("chat")).toHaveLength(2);
  });

  it("of a turn that another process goes on with are in its trace", async () => {
    const journal = memoryJournal();
    const first = traced([echo], journal, "i1", {}, hostWith({ ask: () => new Promise(() => undefined) }));
    const session = await first.runtime.session("s");
    session.turn("t", "Look.", { agent: "looker" }).catch(() => undefined); // Ends with its runtime.
    await until(() => session.state.conversation.running?.phase.type === "asking");
    await first.runtime.close();
    expect(first.named("chat").map(({ attributes }) => attributes["pawl.lost"])).toEqual([true]);
    const second = traced([echo], journal, "i2");
    await (await second.runtime.session("s")).turn("t", "Look.", { agent: "looker" });
    const [[begun], [resumed]] = [first.named("invoke_agent"), second.named("invoke_agent")];
    expect(resumed?.attributes).toMatchObject({ "pawl.resumed": true });
    expect(resumed?.spanContext().traceId).toBe(begun?.spanContext().traceId);
    expect(resumed?.links.map(({ context }) => context.spanId)).toEqual([idOf(begun)]);
    expect(second.named("chat").map(parentOf)).toEqual([idOf(resumed), idOf(resumed)]);
  });

  it("have arguments and results of tools where a host asks for content", async () => {
    const { runtime, named } = traced([echo], memoryJournal(), "i1", { content: true });
    await (await runtime.session("s")).request("r", [{ label: "c", tool: "echo", args: { said: "yes" } }]);
    expect(named("execute_tool")[0]?.attributes).toMatchObject({
      "gen_ai.tool.call.arguments": '{"said":"yes"}',
      "gen_ai.tool.call.result": expect.stringContaining("yes"),
    });
  });

  it("of a body's calls are below the effect that made them", async () => {
    const { runtime, named } = traced([parent, echo]);
    await (await runtime.session("s")).request("r", use("parent"));
    const calls = named("execute_tool");
    const effect = named("pawl.effect").find(({ attributes }) => attributes["pawl.effect"] === "batch");
    const [inner, outer] = ["echo", "parent"].map((tool) =>
      calls.find(({ attributes }) => attributes["pawl.tool"] === tool),
    );
    expect(parentOf(inner)).toBe(idOf(effect));
    expect(parentOf(effect)).toBe(idOf(outer));
  });

  it("of a body's calls are below its own call after a crash as well, though that resumes later", async () => {
    const waiting = defineTool({ name: "waiting", durable: true, execute: (_, ctx) => ctx.waitFor("go") });
    const calls = defineTool({ name: "calls", durable: true, execute: (_, ctx) => ctx.call("waiting", {}) });
    const journal = memoryJournal();
    const first = traced([calls, waiting], journal);
    const session = await first.runtime.session("s");
    session.request("r", use("calls")).catch(() => undefined); // Ends with its runtime.
    await until(() => session.state.waits.size === 1);
    await first.runtime.close();
    const second = traced([calls, waiting], journal, "i2");
    const again = await second.runtime.session("s");
    const replies = again.replies("r");
    await until(() =>
      [...again.state.calls.rows()].some(({ tool, phase }) => tool === "waiting" && phase === "running"),
    );
    await again.cancel({ request: "r" });
    await replies;
    const all = second.named("execute_tool");
    const [inner, outer] = ["waiting", "calls"].map((tool) =>
      all.find(({ attributes }) => attributes["pawl.tool"] === tool),
    );
    expect(inner?.attributes).toMatchObject({ "pawl.resumed": true });
    expect([idOf(outer), second.named("pawl.effect").map(idOf)].flat(2)).toContain(parentOf(inner));
  });

  it("tell how something failed, that a scope was lost, and that a call was resumed", async () => {
    const waiting = defineTool({
      name: "waiting",
      durable: true,
      execute: async (_, ctx) => ctx.waitFor("go"),
    });
    const journal = memoryJournal();
    const first = traced([waiting, failing], journal);
    const session = await first.runtime.session("s");
    await session.request("f", use("failing"));
    expect(first.named("execute_tool")[0]?.status).toMatchObject({
      code: SpanStatusCode.ERROR,
      message: "tool_internal_error",
    });
    session.request("r", use("waiting")).catch(() => undefined); // Ends with its runtime.
    await until(() => session.state.waits.size === 1);
    await first.runtime.close();
    const lost = [...first.named("execute_tool"), ...first.named("pawl.batch")].filter(
      ({ attributes }) => attributes["pawl.lost"] === true,
    );
    expect(lost).toHaveLength(2);
    const begun = lost.find(({ name }) => name === "pawl.batch");
    const second = traced([waiting], journal, "i2");
    const again = await second.runtime.session("s");
    const replies = again.replies("r");
    await until(() => again.state.calls.at("r:c")?.phase === "running");
    await again.cancel({ request: "r" });
    await replies;
    const [resumed] = second.named("execute_tool");
    expect(resumed?.attributes).toMatchObject({ "pawl.resumed": true, "pawl.outcome": "cancelled" });
    expect(resumed?.spanContext().traceId).toBe(begun?.spanContext().traceId);
    expect(parentOf(resumed)).toBe(idOf(begun));
    expect(resumed?.links.map(({ context }) => context.spanId)).toEqual([idOf(begun)]);
  });

  it("of a resumed call are in its caller's trace, and logs without a tracer contain no span", async () => {
    const asked = defineTool({ name: "asked", durable: true, execute: async (_, ctx) => ctx.waitFor("go") });
    const [traceId, spanId] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
    const journal = memoryJournal();
    const first = traced([asked], journal);
    const session = await first.runtime.session("s");
    session.request("r", use("asked"), { traceparent: `00-${traceId}-${spanId}-01` }).catch(() => undefined); // Ends with its runtime.
    await until(() => session.state.waits.size === 1);
    await first.runtime.close();
    const second = traced([asked], journal, "i2");
    const again = await second.runtime.session("s");
    await until(() => again.state.calls.at("r:c")?.phase === "running");
    await again.cancel({ request: "r" });
    await again.replies("r");
    const [resumed] = second.named("execute_tool");
    expect([resumed?.spanContext().traceId, parentOf(resumed)]).toEqual([traceId, spanId]);

    const plain = memoryJournal();
    const mute = new Runtime({ journal: plain, platform: nodePlatform, tools: [echo], instance: "i3", roots });
    await (await mute.session("s")).request("r", use("echo"));
    expect((await plain.read("session:s", 1)).map(({ line }) => line).join("")).not.toContain("traceparent");
  });

  it("ignore an invalid traceparent", async () => {
    for (const traceparent of ["", "00-0-0-00", `00-${"0".repeat(32)}-${"0".repeat(16)}-01`]) {
      const { runtime, named } = traced([echo]);
      await (await runtime.session("s")).request("r", use("echo"), { traceparent });
      expect(parentOf(named("pawl.batch")[0])).toBeUndefined();
    }
  });
});
