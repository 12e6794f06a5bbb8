/** The glue of `examples/ai-sdk.ts`, under a loop that does with it what `generateText` of the AI SDK does. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskAttachments, openRuntime } from "@pawl/driver-node";
import { type ToolDefinition, defineTool } from "@pawl/runtime";
import { attachment, parseMediaType } from "@pawl/tool-value";
import { afterAll, describe, expect, it } from "vitest";
import { onRecord, toolsIn } from "../../examples/ai-sdk.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-ai-sdk-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = join(folder, "journal.db");
const store = diskAttachments(`${file}.attachments`);

const picture = defineTool({
  name: "picture",
  durable: true,
  execute: async (_, ctx) => {
    const meta = { media_type: parseMediaType("image/png") };
    return { of: "an order", image: attachment(await ctx.attachments.put(Uint8Array.of(1, 2, 3), meta)) };
  },
});
const refund = defineTool({
  name: "refund",
  description: "Refunds an order.",
  inputSchema: { type: "object", properties: { order: { type: "string" } }, required: ["order"] } as const,
  durable: true,
  needsApproval: true,
  execute: ({ order }, ctx) => ctx.run("pay", () => `${order} is refunded`, { input: { order } }),
});

interface Said {
  readonly id?: string;
  readonly timestamp?: Date;
}
interface Answer {
  readonly calls?: readonly { readonly toolName: string; readonly input: string }[];
  readonly text?: string;
  readonly response?: { readonly timestamp: Date };
}

/** By what was asked before; what HTTP said is no JSON. The first time it is busy. */
const answers: readonly Answer[] = [
  { calls: [{ toolName: "picture", input: "{}" }] },
  { calls: [{ toolName: "refund", input: '{"order":"A1"}' }] },
  { calls: [{ toolName: "refund", input: '{"order":7}' }] },
  { text: "done" },
];
let asked = 0;
let isBusy = true;
const doGenerate = async (turn: number): Promise<Answer> => {
  asked += 1;
  if (isBusy) {
    isBusy = false;
    throw Object.assign(new Error("429"), { isRetryable: true });
  }
  return { ...answers[turn], response: { timestamp: new Date() } };
};

const agent: ToolDefinition = defineTool({
  name: "agent",
  durable: true,
  execute: async (_, ctx) => {
    const { wrapGenerate } = onRecord(ctx);
    const tools = toolsIn(ctx, [picture, refund], { jsonSchema: (schema) => schema, bytes: store.bytes });
    const read: object[] = [];
    for (let turn = 0; ; turn++) {
      const { calls = [], text } = await wrapGenerate({ doGenerate: () => doGenerate(turn) });
      if (text !== undefined) return { text, read };
      for (const { toolName, input } of calls) {
        const tool = tools[toolName];
        const output = await tool?.execute(JSON.parse(input));
        if (tool !== undefined && output !== undefined) read.push(tool.toModelOutput({ output }));
      }
    }
  },
});

const open = () => openRuntime({ file, tools: [picture, refund, agent] });
const calls = [{ label: "c", tool: "agent", args: {} }];
const isParked = ({ phase }: { readonly phase: string }): boolean => phase === "awaiting_approval";

describe("the AI SDK on pawl", () => {
  it(
    "asks its model once for each answer, over a restart, and reads what calls came to",
    { timeout: 60_000 },
    async () => {
      const first = open();
      const before = await first.runtime.session("s");
      void before.request("turn-1", calls).catch(() => undefined); // Its process ends before.
      await expect.poll(() => before.state.calls.rows().some(isParked), { timeout: 30_000 }).toBe(true);
      await first.close();
      expect(asked).toBe(3); // Two answers, and one that was none.

      const { runtime, close } = open();
      const session = await runtime.session("s");
      const replies = session.request("turn-1", calls);
      const row = session.state.calls.rows().find(isParked);
      if (row?.phase !== "awaiting_approval") throw new Error("nothing awaits approval");
      await session.approve(row.call.ref, { hash: row.approval.argsHash, by: "ann" });
      const [reply] = await replies;
      await close();
      expect(asked).toBe(5);
      const read = [
        {
          type: "content",
          value: [
            { type: "text", text: '{"image":' },
            { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
            { type: "text", text: ',"of":"an order"}' },
          ],
        },
        { type: "content", value: [{ type: "text", text: "A1 is refunded" }] },
        { type: "error-text", value: expect.stringContaining("[Tool execution failed]\narguments.order") },
      ];
      expect(reply?.output.outcome).toEqual({ status: "success", payload: { text: "done", read } });
    },
  );

  it("hears in each run the very answer that was recorded, streamed or not, with its id and its time", async () => {
    const runs: object[] = [];
    let made = 0;
    const hears = defineTool({
      name: "hears",
      durable: true,
      execute: async (_, ctx) => {
        const { wrapGenerate, wrapStream } = onRecord(ctx);
        const response = { id: `answer-${++made}`, timestamp: new Date() };
        const whole = await wrapGenerate({ doGenerate: async () => ({ text: "whole", response }) });
        const nameless = await wrapGenerate<{ text: string; response?: Said }>({
          doGenerate: async () => ({ text: "" }),
        });
        const chunks = [
          { type: "stream-start" },
          { type: "response-metadata", id: `stream-${made}`, timestamp: new Date() },
          { type: "raw", rawValue: made },
          { type: "text-delta", delta: `words ${made}` },
        ];
        const { stream } = await wrapStream({ doStream: async () => ({ stream: ReadableStream.from(chunks) }) });
        const heard: object[] = [];
        for await (const chunk of stream) heard.push(chunk);
        runs.push({ whole, nameless, heard });
        await ctx.sleep(60_000);
      },
    });
    const there = join(folder, "hears.db");
    for (let n = 1; n <= 2; n++) {
      const { runtime, close } = openRuntime({ file: there, tools: [hears] });
      void (await runtime.session("s")).call(hears, {}, { id: "r" }).catch(() => undefined); // Its process ends before.
      await expect.poll(() => runs.length, { timeout: 30_000 }).toBe(n);
      await close();
    }
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[0]).toMatchObject({
      whole: { text: "whole", response: { id: "answer-1", timestamp: expect.any(Date) } },
      nameless: { response: { id: expect.any(String), timestamp: expect.any(Date) } },
      heard: [{ type: "stream-start" }, { type: "response-metadata", id: "stream-1" }, { delta: "words 1" }],
    });
  });

  it("shows a model the schema of each tool", () => {
    const tools = toolsIn({} as never, [refund], { jsonSchema: (schema) => schema, bytes: store.bytes });
    expect(tools["refund"]).toMatchObject({
      description: "Refunds an order.",
      inputSchema: { type: "object", required: ["order"] },
    });
  });
});
