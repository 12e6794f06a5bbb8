/** Tests what a client is told of tools and their calls: at once, as tasks, with questions. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError, defineTool } from "@pawl/runtime";
import { attachment } from "@pawl/tool-value";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { elicit, idempotencyKey } from "../src/index.ts";
import { type Opened, openServer } from "./open.ts";

const home = mkdtempSync(join(tmpdir(), "pawl-mcp-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

let open: Opened | undefined;
const opened = (...of: Parameters<typeof openServer>): Opened => (open = openServer(...of));
afterEach(async () => {
  await open?.end();
  open = undefined;
});

const amount = { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] } as const;
const mailed: unknown[] = [];

const pay = defineTool({
  name: "pay",
  title: "Pay",
  description: "Pays an amount",
  inputSchema: amount,
  outputSchema: { type: "object", properties: { paid: { type: "number" } } },
  durable: true,
  idempotent: true,
  execute: ({ amount: paid }: { amount: number }) => ({ paid }),
});
const later = defineTool({
  name: "later",
  durable: true,
  inputSchema: { type: "object", properties: { ms: { type: "number" } } },
  execute: async ({ ms = 200 }: { ms?: number }, context) => {
    await context.sleep(ms);
    return "at last";
  },
});
const send = defineTool({
  name: "send",
  title: "Send a mail",
  durable: true,
  needsApproval: true,
  inputSchema: { type: "object", properties: { to: { type: "string", title: "To" }, text: { type: "string" } } },
  execute: (args: unknown, context) =>
    context.run("mail", () => {
      mailed.push(args);
      return "sent";
    }),
});

const as = (by: string) => ({ headers: { authorization: `Bearer ${by}` } });

describe("a catalog", () => {
  it("is listed with names, descriptions, schemas and annotations", async () => {
    const { ask } = opened([
      pay,
      defineTool({ name: "shout", inputSchema: { type: "string" }, readOnly: true, execute: (text) => text }),
    ]);
    const { result } = await ask("tools/list", {});
    expect(result.tools).toEqual([
      {
        name: "pay",
        title: "Pay",
        description: "Pays an amount",
        inputSchema: amount,
        outputSchema: { type: "object", properties: { paid: { type: "number" } } },
        annotations: { title: "Pay", idempotentHint: true },
      },
      {
        name: "shout",
        description: "",
        inputSchema: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
        annotations: { readOnlyHint: true },
      },
    ]);
  });

  it("hides what a caller is not shown, and refuses to call it", async () => {
    const { ask, call } = opened([pay, later], { show: (tool) => tool !== "pay" });
    expect((await ask("tools/list", {})).result.tools.map(({ name }: { name: string }) => name)).toEqual(["later"]);
    expect((await call("pay", { amount: 1 })).error).toEqual({ code: -32602, message: "Unknown tool: pay" });
  });
});

describe("a call", () => {
  it("that ends in time is answered at once, with structured content", async () => {
    const { result } = await opened([pay]).call("pay", { amount: 3 });
    expect(result).toMatchObject({
      resultType: "complete",
      content: [{ type: "text", text: '{"paid":3}' }],
      structuredContent: { paid: 3 },
    });
  });

  it("keeps integers beyond what JavaScript counts", async () => {
    const big = defineTool({ name: "big", execute: () => ({ n: 9_007_199_254_740_993n }) });
    const { fetch } = opened([big]);
    const { requestOf } = await import("./open.ts");
    const text = await (await fetch(requestOf("tools/call", { name: "big", arguments: {} }, {}))).text();
    expect(text).toContain('"structuredContent":{"n":9007199254740993}');
  });

  it("that fails is a result that a model reads, and one with wrong arguments too", async () => {
    const fails = defineTool({
      name: "fails",
      execute: () => {
        throw new ToolError("no such account");
      },
    });
    const { call } = opened([fails, pay]);
    expect((await call("fails")).result).toMatchObject({ isError: true, content: [{ text: "no such account" }] });
    expect((await call("pay", { amount: "much" })).result).toMatchObject({ isError: true });
  });

  it("shows images and sounds, and links to other attachments for this caller alone", async () => {
    const draw = defineTool({
      name: "draw",
      execute: async (_: unknown, context) => {
        const put = async (kind: "image" | "file", type: string, bytes: number[]) =>
          attachment(
            await context.attachments.put(new Uint8Array(bytes), {
              media_type: (kind === "image" ? { kind, type: "png" } : { kind, type }) as never,
              label: type,
            }),
          );
        return {
          drawn: [
            await put("image", "png", [1]),
            await put("file", "audio/wav", [2]),
            await put("file", "text/csv", [3]),
          ],
        };
      },
    });
    const { call, ask } = opened([draw], { verify: (by) => ({ by }) });
    const { content } = (await call("draw", {}, as("ann"))).result;
    expect(content.slice(1)).toEqual([
      { type: "image", data: "AQ==", mimeType: "image/png" },
      { type: "audio", data: "Ag==", mimeType: "audio/wav" },
      {
        type: "resource_link",
        uri: expect.stringMatching(/^pawl-attachment:/),
        name: "text/csv",
        mimeType: "text/csv",
        size: 1,
      },
    ]);
    const uri = content[3]?.uri ?? "";
    expect((await ask("resources/read", { uri }, as("ann"))).result.contents).toEqual([
      { uri, mimeType: "text/csv", blob: "Aw==" },
    ]);
    expect((await ask("resources/read", { uri }, as("bob"))).error).toMatchObject({ code: -32602 });
  });

  it("tells a client that waits how far it is", async () => {
    const counts = defineTool({
      name: "counts",
      execute: async (_: unknown, context) => {
        context.progress({ message: "one", done: 1, total: 2 });
        context.progress({ message: "two" });
        return "counted";
      },
    });
    const { notes, result } = await opened([counts]).call(
      "counts",
      {},
      { capabilities: {}, meta: { progressToken: "t" } },
    );
    expect(notes.map(({ params }) => params)).toEqual([
      { progressToken: "t", progress: 1, total: 2, message: "one" },
      { progressToken: "t", progress: 2, message: "two" },
    ]);
    expect(result).toMatchObject({ content: [{ text: "counted" }] });
  });

  it("that is repeated by its key joins the first one, and runs once", async () => {
    const runs: number[] = [];
    const once = defineTool({
      name: "once",
      durable: true,
      execute: (_: unknown, context) => context.run("count", () => runs.push(1)),
    });
    const { call } = opened([once]);
    const key = { meta: { [idempotencyKey]: "k1" } };
    const [first, second] = await Promise.all([call("once", {}, key), call("once", {}, key)]);
    const third = await call("once", {}, key);
    expect([first, second, third].map(({ result }) => result.content[0]?.text)).toEqual(["1", "1", "1"]);
    expect(runs).toEqual([1]);
    expect((await call("once", { other: true }, key)).error).toMatchObject({
      code: -32602,
      data: { code: "request_conflict" },
    });
  });
});

describe("a task", () => {
  it("is what takes longer; its id means the same after a restart, and after its end was fetched", async () => {
    const file = join(home, "restart.db");
    const first = openServer([later], {}, file);
    const { result: handle } = await first.call("later", { ms: 400 });
    expect(handle).toMatchObject({ resultType: "task", status: "working", ttlMs: null, pollIntervalMs: 10 });
    expect(handle).not.toHaveProperty("result");
    await first.end();
    const { until, ask } = opened([later], {}, file);
    const done = await until(handle.taskId, "completed");
    expect(done).toMatchObject({
      taskId: handle.taskId,
      createdAt: handle.createdAt,
      result: { content: [{ text: "at last" }] },
    });
    await open?.end();
    open = openServer([later], {}, file);
    expect((await open.ask("tasks/get", { taskId: handle.taskId })).result).toEqual(done);
    expect(ask).toBeDefined();
  });

  it("belongs to the principal that it was handed to: no other id is known", async () => {
    const { call, ask } = opened([later], { verify: (token) => ({ by: token }), session: () => "shared" });
    const { taskId } = (await call("later", {}, as("ann"))).result;
    const unknown = { code: -32602, message: expect.stringContaining("unknown task") };
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"])
      expect((await ask(method, { taskId }, as("bob"))).error).toEqual(unknown);
    const [text, mac] = taskId.split(".");
    for (const forged of [`${text}.${mac}x`, `${text}x.${mac}`, text, "", "a.b.c"])
      expect((await ask("tasks/get", { taskId: forged }, as("ann"))).error).toEqual(unknown);
    expect((await ask("tasks/get", { taskId }, as("ann"))).result.status).toBe("working");
  });

  it("is cancelled, and stays as it ended if it was over", async () => {
    const { call, ask, until } = opened([later, pay], { tools: { pay: { task: "always" } } });
    const { taskId } = (await call("later", { ms: 60_000 })).result;
    expect((await ask("tasks/cancel", { taskId })).result).toEqual({
      resultType: "complete",
      _meta: expect.anything(),
    });
    expect(await until(taskId, "cancelled")).not.toHaveProperty("result");
    const paid = (await call("pay", { amount: 1 })).result.taskId;
    await until(paid, "completed");
    await ask("tasks/cancel", { taskId: paid });
    expect((await ask("tasks/get", { taskId: paid })).result.status).toBe("completed");
  });

  it("needs a client that has tasks", async () => {
    const { call, ask } = opened([later], { tools: { later: { task: "required" } } });
    const without = { capabilities: {} };
    const missing = {
      code: -32021,
      data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
    };
    expect((await call("later", {}, without)).error).toMatchObject(missing);
    expect(await ask("tasks/get", { taskId: "x" }, without)).toMatchObject({ status: 400, error: missing });
  });

  it("of a call whose code broke has failed; one whose outcome nobody knows is completed, and says so", async () => {
    const breaks = defineTool({
      name: "breaks",
      execute: () => {
        throw new TypeError("broken");
      },
    });
    const charge = defineTool({ name: "charge", execute: () => new Promise<never>(() => undefined) });
    const file = join(home, "unknown.db");
    const first = openServer([charge], { tools: { charge: { task: "always" } } }, file);
    const { taskId } = (await first.call("charge")).result;
    await first.end();
    const { until, call } = opened([charge, breaks], { tools: { breaks: { task: "always" } } }, file);
    const { result } = await until(taskId, "completed");
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("outcome of this call is unknown") }],
    });
    expect(await until((await call("breaks")).result.taskId, "failed")).toMatchObject({ error: { code: -32603 } });
  });
});

describe("an approval", () => {
  it("is asked by the task, with the arguments to edit; the call waits until then", async () => {
    const { call, ask, until } = opened([send]);
    const { result: handle } = await call("send", { to: "ann", text: "hi" });
    expect(handle).toMatchObject({ resultType: "task", status: "input_required" });
    const { inputRequests } = await until(handle.taskId, "input_required");
    const [[key, { method, params }]] = Object.entries(inputRequests) as [[string, { method: string; params: object }]];
    expect(method).toBe("elicitation/create");
    expect(params).toMatchObject({
      message: expect.stringContaining("send wants to run"),
      requestedSchema: { properties: { to: { type: "string", title: "To", default: "ann" } } },
    });
    const wrong = { [key]: { action: "accept", content: { to: 5 } } };
    expect((await ask("tasks/update", { taskId: handle.taskId, inputResponses: wrong })).error).toMatchObject({
      code: -32602,
    });
    const edited = { [key]: { action: "accept", content: { to: "bob" } }, other: { action: "accept" } };
    await ask("tasks/update", { taskId: handle.taskId, inputResponses: edited });
    await until(handle.taskId, "completed");
    expect(mailed.splice(0)).toEqual([{ to: "bob", text: "hi" }]);
  });

  it("that is declined ends the call, and nothing is done", async () => {
    const { call, ask, until } = opened([send]);
    const { taskId, inputRequests: none } = (await call("send", { to: "ann" })).result;
    expect(none).toBeUndefined();
    const [key = ""] = Object.keys((await until(taskId, "input_required")).inputRequests);
    await ask("tasks/update", { taskId, inputResponses: { [key]: { action: "decline" } } });
    expect((await until(taskId, "completed")).result).toMatchObject({ isError: true });
    expect(mailed).toEqual([]);
  });

  it("is asked by the call where its client has no tasks, and the state finds the same call again", async () => {
    const { ask } = opened([send]);
    const forms = { capabilities: { elicitation: {} } };
    const { result } = await ask("tools/call", { name: "send", arguments: { to: "ann" } }, forms);
    expect(result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
    const [key = ""] = Object.keys(result.inputRequests);
    const answered = {
      name: "send",
      arguments: { to: "ann" },
      inputResponses: { [key]: { action: "accept" } },
      requestState: result.requestState,
    };
    expect((await ask("tools/call", { ...answered, name: "other" }, forms)).error).toMatchObject({ code: -32602 });
    expect((await ask("tools/call", answered, forms)).result).toMatchObject({ content: [{ text: "sent" }] });
    expect((await ask("tools/call", answered, forms)).result).toMatchObject({ content: [{ text: "sent" }] });
    expect(mailed.splice(0)).toEqual([{ to: "ann" }]);
  });

  it("is not put to a caller that may not approve: its call waits for somebody else", async () => {
    const { call, ask, until, runtime } = opened([send], { verify: (by) => ({ by, rights: ["call"] }) });
    const { taskId } = (await call("send", { to: "ann" }, as("ann"))).result;
    const view = (await ask("tasks/get", { taskId }, as("ann"))).result;
    expect(view).toMatchObject({ status: "working", statusMessage: "waits for a person" });
    expect(view).not.toHaveProperty("inputRequests");
    const [wanted] = await (await runtime.session("mcp/ann")).approvals();
    await ask("tasks/update", { taskId, inputResponses: { x: { action: "accept" } } }, as("ann"));
    expect(mailed).toEqual([]);
    await wanted?.approve({ by: "boss" });
    await until(taskId, "completed", as("ann"));
    expect(mailed.splice(0)).toEqual([{ to: "ann" }]);
  });

  it("has a key of its own each time that a tool asks", async () => {
    const twice = defineTool({
      name: "twice",
      durable: true,
      execute: async (_: unknown, context) => {
        const form = {
          message: "Your name?",
          requestedSchema: { type: "object" as const, properties: { name: { type: "string" as const } } },
        };
        const first = await elicit(context, "name", form);
        const second = await elicit(context, "name", form);
        return [first.content?.["name"], second.content?.["name"]];
      },
    });
    const { call, ask, until } = opened([twice]);
    const { taskId } = (await call("twice")).result;
    const answers = { name: { action: "accept", content: { name: "Ann" } } };
    expect(Object.keys((await until(taskId, "input_required")).inputRequests)).toEqual(["name"]);
    await ask("tasks/update", { taskId, inputResponses: answers });
    const next = async (): Promise<readonly string[]> =>
      Object.keys((await until(taskId, "input_required")).inputRequests);
    while ((await next())[0] === "name") await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await next()).toEqual(["name#2"]);
    await ask("tasks/update", { taskId, inputResponses: answers });
    expect(await next()).toEqual(["name#2"]);
    await ask("tasks/update", { taskId, inputResponses: { "name#2": { action: "accept", content: { name: "Bob" } } } });
    expect((await until(taskId, "completed")).result.content).toEqual([{ type: "text", text: '["Ann","Bob"]' }]);
  });
});
