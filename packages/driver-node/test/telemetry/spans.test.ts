/** Spans as an SDK exports them: which ones, their parents, and none without a tracer. */
import { SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { Runtime, type ToolDefinition, defineTool, memoryJournal } from "@pawl/runtime";
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

const traced = (tools: readonly ToolDefinition[], journal = memoryJournal(), instance = "i1") => {
  const exporter = new InMemorySpanExporter();
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer("test");
  const telemetry = spansOf(tracer);
  const runtime = new Runtime({
    journal: tracedJournal(journal, tracer, telemetry),
    telemetry,
    platform: nodePlatform,
    tools,
    instance,
    roots,
  });
  const named = (name: string): readonly ReadableSpan[] =>
    exporter.getFinishedSpans().filter((span) => span.name === name);
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
    const [[batch], [call], effects] = [named("pawl.batch"), named("pawl.call"), named("pawl.effect")];
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

  it("of a body's calls are below the effect that made them", async () => {
    const { runtime, named } = traced([parent, echo]);
    await (await runtime.session("s")).request("r", use("parent"));
    const calls = named("pawl.call");
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
    const all = second.named("pawl.call");
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
    expect(first.named("pawl.call")[0]?.status).toMatchObject({
      code: SpanStatusCode.ERROR,
      message: "tool_internal_error",
    });
    session.request("r", use("waiting")).catch(() => undefined); // Ends with its runtime.
    await until(() => session.state.waits.size === 1);
    await first.runtime.close();
    const lost = [...first.named("pawl.call"), ...first.named("pawl.batch")].filter(
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
    const [resumed] = second.named("pawl.call");
    expect(resumed?.attributes).toMatchObject({ "pawl.resumed": true, "pawl.outcome": "cancelled" });
    expect(resumed?.spanContext().traceId).toBe(begun?.spanContext().traceId);
    expect(parentOf(resumed)).toBe(idOf(begun));
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
    const [resumed] = second.named("pawl.call");
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
