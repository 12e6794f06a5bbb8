/** Runs of the SDK's own `Runner`, in bodies that run again. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Agent,
  type Model,
  type ModelProvider,
  type ModelRequest,
  type ModelResponse,
  Runner,
  type StreamEvent,
  Usage,
  setTracingDisabled,
  tool,
} from "@openai/agents";
import { openRuntime } from "@pawl/driver-node";
import { type ToolContext, type ToolDefinition, defineTool } from "@pawl/runtime";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { DurableSession, durableProvider, durableTools, runUntilDone } from "../src/index.ts";

setTracingDisabled(true);
const folder = mkdtempSync(join(tmpdir(), "pawl-openai-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(folder, `${++files}.db`);

type Item = ModelResponse["output"][number];
const text = (said: string): Item => ({
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: said }],
});
const call = (name: string, callId: string, input: object): Item => ({
  type: "function_call",
  name,
  callId,
  status: "completed",
  arguments: JSON.stringify(input),
});

type Script = (request: ModelRequest, asked: number) => readonly Item[];

/** A provider of one model, which follows a script and counts what it is asked. */
class Scripted implements ModelProvider, Model {
  asked = 0;
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
  }
  getModel(): Model {
    return this;
  }
  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    this.asked += 1;
    const output = [...this.#script(request, this.asked)];
    return {
      output,
      usage: new Usage({ inputTokens: 3, outputTokens: 2, totalTokens: 5 }),
      responseId: `r${this.asked}`,
    };
  }
  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const { output, responseId = "" } = await this.getResponse(request);
    yield { type: "response_started" };
    for (const delta of ["wo", "rds"]) yield { type: "output_text_delta", delta };
    const usage = { requests: 1, inputTokens: 3, outputTokens: 2, totalTokens: 5 };
    const done = { id: responseId, output, usage } as Extract<StreamEvent, { type: "response_done" }>["response"];
    yield { type: "response_done", response: done };
  }
}

/** The results of tools that a model was shown. */
const resultsIn = ({ input }: ModelRequest): readonly string[] =>
  typeof input === "string"
    ? []
    : input.flatMap((item) => (item.type === "function_call_result" ? [JSON.stringify(item.output)] : []));

const paid: number[] = [];
afterEach(() => void paid.splice(0));
const pay = tool({
  name: "pay",
  description: "Pays.",
  parameters: z.object({ cents: z.number() }),
  needsApproval: async (_, { cents }) => cents > 10,
  execute: ({ cents }) => {
    paid.push(cents);
    return `paid ${cents}`;
  },
});
const paying = (...cents: readonly number[]): Scripted =>
  new Scripted((request) => {
    const results = resultsIn(request);
    return results.length === 0 ? cents.map((sum) => call("pay", `c${sum}`, { cents: sum })) : [text(results.join())];
  });

type Body = (ctx: ToolContext) => Promise<unknown>;

const opened = (file: string, body: Body, tools: readonly ToolDefinition[] = []) => {
  const agent = defineTool({ name: "agent", durable: true, execute: (_, ctx) => body(ctx) });
  const { runtime, close } = openRuntime({ file, tools: [agent, ...tools] });
  const begin = async (id = "r") => {
    const session = await runtime.session("s");
    const result = session.call(agent, {}, { id });
    result.catch(() => undefined); // Its process may end before.
    return { session, result };
  };
  return { begin, close };
};

/** Runs a body in one process, and again in a second one. */
const inTwoRuns = async (body: Body): Promise<readonly [unknown, unknown]> => {
  const runs: unknown[] = [];
  const file = newFile();
  for (let n = 1; n <= 2; n++) {
    const { begin, close } = opened(file, async (ctx) => {
      runs.push(await body(ctx));
      await ctx.sleep(60_000);
    });
    await begin();
    await expect.poll(() => runs.length, { timeout: 10_000 }).toBe(n);
    await close();
  }
  return [runs[0], runs[1]];
};

const runnerOf = (ctx: ToolContext, model: Scripted): Runner =>
  new Runner({ modelProvider: durableProvider(ctx, model) });

describe("a run", () => {
  it.each([false, true])("asks its model and its tools once, over a restart; streamed: %s", async (isStreamed) => {
    const model = paying(5, 6);
    const [first, second] = await inTwoRuns(async (ctx) => {
      const events: string[] = [];
      const agent = new Agent({ name: "a", tools: durableTools(ctx, [pay]) });
      const onEvent = ({ type }: { readonly type: string }): void => void events.push(type);
      const options = isStreamed ? { onEvent } : {};
      const output = await runUntilDone(ctx, runnerOf(ctx, model), agent, "go", options);
      return [output, events.filter((type) => type === "raw_model_stream_event").length];
    });
    expect(first).toEqual([expect.stringMatching(/paid 5.*paid 6/), isStreamed ? 8 : 0]);
    expect(second).toEqual(first);
    expect([paid, model.asked]).toEqual([[5, 6], 2]);
  });

  it("asks a person over a restart, and goes on with what was decided", async () => {
    const model = paying(5, 50, 60, 70);
    const file = newFile();
    const body: Body = (ctx) =>
      runUntilDone(ctx, runnerOf(ctx, model), new Agent({ name: "a", tools: durableTools(ctx, [pay]) }), "go");
    const before = opened(file, body);
    const asked = await before.begin();
    const titles = ["pay (c50)", "pay (c60)", "pay (c70)"];
    const labels = async (session: typeof asked.session) => (await session.approvals()).map(({ label }) => label);
    await expect.poll(() => labels(asked.session), { timeout: 5000 }).toEqual(titles);
    await before.close();

    const after = opened(file, body);
    const { session, result } = await after.begin();
    const [fifty, sixty, seventy] = await session.approvals();
    await fifty?.approve({ by: "ann" });
    await sixty?.reject({ by: "ann", reason: "too much" });
    await seventy?.approve({ by: "ann", args: { cents: 7 } });
    expect(await result).toMatch(/paid 5.*paid 50.*too much.*paid 7\b/);
    expect([paid, model.asked]).toEqual([[5, 50, 7], 2]);
    await after.close();
  });

  it("is not gone on with where edited arguments would be lost", async () => {
    const model = paying(50);
    const body: Body = (ctx) => runUntilDone(ctx, runnerOf(ctx, model), new Agent({ name: "a", tools: [pay] }), "go");
    const { begin, close } = opened(newFile(), (ctx) => body(ctx).catch(({ message }: Error) => message));
    const { session, result } = await begin();
    await expect.poll(async () => (await session.approvals()).length, { timeout: 5000 }).toBe(1);
    for (const one of await session.approvals()) await one.approve({ by: "ann", args: { cents: 7 } });
    expect(await result).toContain("by `durableTools`");
    expect(paid).toEqual([]);
    await close();
  });

  it("has tools of pawl, with their own approvals", async () => {
    const refund = defineTool({
      name: "refund",
      inputSchema: z.object({ cents: z.number() }),
      durable: true,
      needsApproval: true,
      execute: ({ cents }, ctx) => ctx.run("pay", () => ({ refunded: cents })),
    });
    const model = new Scripted((request) => {
      const results = resultsIn(request);
      return results.length === 0 ? [call("refund", "c1", { cents: 5 })] : [text(results.join())];
    });
    const body: Body = (ctx) =>
      runUntilDone(ctx, runnerOf(ctx, model), new Agent({ name: "a", tools: durableTools(ctx, [refund]) }), "go");
    const { begin, close } = opened(newFile(), body, [refund]);
    const { session, result } = await begin();
    await expect
      .poll(async () => (await session.approvals()).map(({ label }) => label), { timeout: 5000 })
      .toEqual(["c1"]);
    for (const one of await session.approvals()) await one.approve({ by: "ann" });
    expect(await result).toContain("refunded");
    await close();
  });

  it("hands over to another agent, and calls one as a tool, which asks the same person", async () => {
    const model = new Scripted((request) => {
      const results = resultsIn(request);
      if (request.systemInstructions === "inner")
        return results.length === 0 ? [call("pay", "c50", { cents: 50 })] : [text(`inner: ${results.join()}`)];
      if (request.systemInstructions === "first") return [call("transfer_to_second", "h1", {})];
      return results.length === 1 ? [call("ask_inner", "i1", { input: "go" })] : [text(`second: ${results.at(-1)}`)];
    });
    const body: Body = (ctx) => {
      const inner = new Agent({ name: "inner", instructions: "inner", tools: durableTools(ctx, [pay]) });
      const asked = inner.asTool({ toolName: "ask_inner", toolDescription: "Asks." });
      const second = new Agent({ name: "second", instructions: "second", tools: [asked] });
      const first = new Agent({ name: "first", instructions: "first", handoffs: [second] });
      return runUntilDone(ctx, runnerOf(ctx, model), first, "go");
    };
    const file = newFile();
    const before = opened(file, body);
    const { session: asking } = await before.begin();
    await expect.poll(async () => (await asking.approvals()).length, { timeout: 5000 }).toBe(1);
    await before.close();
    const after = opened(file, body);
    const { session, result } = await after.begin();
    for (const one of await session.approvals()) await one.approve({ by: "ann" });
    expect(await result).toMatch(/^second: .*inner: .*paid 50/);
    expect(paid).toEqual([50]);
    await after.close();
  });

  it("that fails fails the same way in each run", async () => {
    const model = new Scripted(() => {
      throw Object.assign(new Error("no such model"), { name: "NotFoundError", status: 404 });
    });
    const [first, second] = await inTwoRuns((ctx) =>
      runUntilDone(ctx, runnerOf(ctx, model), new Agent({ name: "a" }), "go").catch(
        ({ name, message, status }: Error & { readonly status?: number }) => [name, message, status],
      ),
    );
    expect(first).toEqual(["NotFoundError", "no such model", 404]);
    expect(second).toEqual(first);
    expect(model.asked).toBe(1);
  });
});

const item = (n: number) => ({ role: "user", content: `${n}${"x".repeat(20_000)}` }) as const;

describe("a durable session", () => {
  it("has the conversation in the next turn, each item once, over a restart in each", async () => {
    const model = new Scripted(({ input }) => [text(`heard ${Array.isArray(input) ? input.length : 0}`)]);
    const file = newFile();
    const body: Body = async (ctx) => {
      const session = new DurableSession(ctx);
      const said = await runUntilDone(ctx, runnerOf(ctx, model), new Agent({ name: "a" }), "go", { session });
      return [said, (await session.getItems()).length];
    };
    for (const [turn, heard] of [
      ["r1", ["heard 1", 2]],
      ["r2", ["heard 3", 4]],
    ] as const) {
      const { begin, close } = opened(file, body);
      const { result } = await begin(turn);
      expect(await result).toEqual(heard);
      await close();
    }
  });

  it("gives the last items, takes back the last, and forgets all; long histories have many keys", async () => {
    const { begin, close } = opened(newFile(), async (ctx) => {
      const session = new DurableSession(ctx, "talk");
      await session.addItems([1, 2, 3].map(item));
      await session.addItems([item(4)]);
      const shown = async (limit?: number) =>
        (await session.getItems(limit))
          .map((one) => String((one as { readonly content: string }).content).slice(0, 1))
          .join("");
      const first = [await shown(), await shown(2)];
      const popped = (await session.popItem()) as { readonly content: string };
      const then = [popped.content.slice(0, 1), await shown()];
      await session.clearSession();
      return [...first, ...then, await shown(), (await session.popItem()) === undefined];
    });
    const { result } = await begin();
    expect(await result).toEqual(["1234", "34", "4", "123", "", true]);
    await close();
  });
});
