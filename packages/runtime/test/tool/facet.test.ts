import { type Json, attachment, done, failureOutput, record, safeRetryFailure, string } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type HostPort, type ToolContext, defineTool } from "../../src/index.ts";
import { memoryAttachments } from "../../src/driver.ts";
import { World } from "../world.ts";

const call = [{ label: "c", tool: "t", args: {} }];
const inBody = async (body: (ctx: ToolContext) => unknown, host: HostPort = {}, prepare?: () => Json) => {
  const tool = defineTool({
    name: "t",
    durable: true,
    execute: (_, ctx) => body(ctx),
    ...(prepare ? { prepare } : {}),
  });
  const session = await new World().start([tool], { host }).runtime.session("s");
  const [reply] = await session.request("r", call);
  return reply?.output.outcome.payload;
};

describe("a context", () => {
  it("asks its host for sessions, under the session of its own unless another is named", async () => {
    const asked: unknown[] = [];
    const request: HostPort["request"] = async (name, input) => (asked.push([name, input]), name);
    await inBody(
      async ({ sessions }) => {
        await sessions.model();
        await sessions.startTurn("other", "t9", { text: "hi" });
        await sessions.setToolsAvailability(["a"], null);
      },
      { request },
    );
    expect(asked).toEqual([
      ["sessions.model", { session_id: "s" }],
      ["sessions.start_turn", { session_id: "other", turn_id: "t9", input: { text: "hi" } }],
      ["sessions.set_tools_availability", { session_id: "s", names: ["a"], availability: null }],
    ]);
  });

  it("asks for each verb of sessions under its name", async () => {
    const asked: string[] = [];
    const request: HostPort["request"] = async (name) => (asked.push(name), { revision: 7 });
    const revision = await inBody(
      async ({ sessions: s }) => {
        await s.snapshotCurrent();
        await s.snapshot("other");
        await s.createSession({ name: "n" });
        await s.closeSession("other");
        await s.toolCatalog();
        await s.sharedToolCatalog();
        return s.setToolsAvailability(["a"], "off");
      },
      { request },
    );
    expect(asked.map((name) => name.replace("sessions.", ""))).toEqual(
      "snapshot_current snapshot create_session close_session tool_catalog shared_tool_catalog set_tools_availability".split(
        " ",
      ),
    );
    expect(revision).toEqual({ revision: 7 });
  });

  it("asks for completions in the name of its call, each time anew", async () => {
    const asked: unknown[] = [];
    const request: HostPort["request"] = async (name, input, key) => {
      asked.push([name, input, key]);
      return { text: "hi", usage: null };
    };
    const said = { model: "m", messages: [], attachments: [], tools: [], tool_choice: null, generation: null };
    const caused_by = { type: "tool_call", session_id: "s", call_id: "c" };
    const answers = await inBody(
      async ({ directCompletions }) => [
        await directCompletions.complete(said, "u"),
        await directCompletions.complete({ ...said, session_id: "other" }, "u", { type: "process", process_id: "p" }),
        await directCompletions.complete(said, "u"),
      ],
      { request },
    );
    expect(answers).toEqual(Array.from({ length: 3 }, () => ({ text: "hi", usage: null })));
    const key = expect.stringContaining(":direct:u:");
    expect(asked).toMatchObject([
      ["direct.complete", { request: { session_id: "s" }, usage_source: "u", caused_by }, key],
      ["direct.complete", { request: { session_id: "other" }, caused_by: { type: "process", process_id: "p" } }, key],
      ["direct.complete", { request: { session_id: "s" }, caused_by }, expect.stringMatching(/#2$/)],
    ]);
  });

  it("tells the trace of its host which process it has started", async () => {
    const told: unknown[] = [];
    const childStarted: HostPort["childStarted"] = (...of) => void told.push(of);
    await inBody((ctx) => ctx.emitChildProcessStarted("p", "main"), { childStarted });
    expect(told).toEqual([["r:c", "p", "main"]]);
  });

  it("has one key for the outside in all its attempts, and counts these", async () => {
    const seen: unknown[] = [];
    const t = defineTool({
      name: "t",
      retry: { idempotent: true, attempts: 2, firstDelayMs: 0, maxDelayMs: 0 },
      execute: (_, { replayKey, attempt, maxAttempts, toolCallId }) => {
        seen.push([replayKey, attempt, maxAttempts, toolCallId]);
        return done(failureOutput(safeRetryFailure("external", "busy", "later")));
      },
    });
    await (await new World().start([t]).runtime.session("s")).request("r", call);
    expect(seen).toEqual([1, 2].map((attempt) => ["lash-tool:session:s/r:c:t", attempt, 2, "c"]));
  });

  it("sets off triggers, and says where there is no store for them", async () => {
    const occurrence = { occurrence_id: "o1", started_process_ids: ["p1"] };
    const trigger = { sourceType: "cron", sourceKey: "k", payload: 1, idempotencyKey: "i" };
    const stored = { source_type: "cron", source_key: "k", payload: 1, idempotency_key: "i" };
    const request: HostPort["request"] = async (name, input) => {
      expect([name, input]).toEqual(["trigger.emit", stored]);
      return occurrence;
    };
    const said = { occurrenceId: "o1", startedProcessIds: ["p1"] };
    expect(await inBody(({ triggers }) => triggers.emit(trigger), { request })).toEqual(said);
    const code = await inBody(({ triggers }) =>
      triggers
        .emit(trigger)
        .catch((thrown: { readonly code: string; readonly message: string }) => [thrown.code, thrown.message]),
    );
    expect(code).toEqual(["trigger_unavailable", "trigger store is unavailable in this runtime"]);
  });

  it("is prepared with the descriptions and schemas of the session's catalog", async () => {
    const seen: unknown[] = [];
    const inputSchema = { type: "object", properties: { to: { type: "string" } } } as const;
    const book = defineTool({ name: "book", description: "Books a trip.", inputSchema, execute: () => null });
    const plan = defineTool({
      name: "plan",
      prepare: (_, { catalog }) => {
        seen.push(...catalog.filter(({ name }) => name === "book"));
        return null;
      },
      execute: () => null,
    });
    await (await new World().start([book, plan]).runtime.session("s")).call("plan", {}, { id: "r" });
    expect(seen).toMatchObject([
      { id: "tool:book", description: "Books a trip.", availability: "showcased", inputSchema },
    ]);
  });

  it("knows the tools that may be called where it is", async () => {
    const off = defineTool({ name: "off", availability: "off", execute: () => null });
    const t = defineTool({
      name: "t",
      description: "asks",
      execute: (_, ctx) => ["t", "off", "none"].map((name) => ctx.callableToolManifest(name)?.description ?? null),
    });
    const session = await new World().start([t, off]).runtime.session("s");
    const [reply] = await session.request("r", call);
    expect(reply?.output.outcome.payload).toEqual(["asks", null, null]);
  });

  it("says of which process and frame it is, if of any", async () => {
    expect(await inBody(({ processId, agentFrameId }) => [processId ?? null, agentFrameId ?? null])).toEqual([
      null,
      null,
    ]);
    const t = defineTool({
      name: "t",
      durable: true,
      execute: (_, { processId, agentFrameId }) => [processId ?? null, agentFrameId ?? null],
    });
    const { processes } = new World().start([t]).runtime;
    const prepared = { call_id: "c", tool_id: "tool:t", tool_name: "t", args: {}, prepared_payload: null };
    const scope = { session_id: "s", agent_frame_id: "f" };
    await processes.start({
      id: "p",
      input: { type: "tool_call", call: prepared },
      identity: { kind: "tool" },
      event_types: [],
      provenance: { originator: { type: "session", scope } },
      env_ref: "process-env:sha256:0",
    });
    expect(await processes.await("p")).toEqual({ type: "success", value: ["p", "f"] });
  });

  it("keeps bytes in memory up to a bound: what is kept stays, and what does not fit is refused", async () => {
    const attachments = memoryAttachments(1000);
    const meta = { media_type: { kind: "file", type: "text/plain" } } as const;
    const put = (ctx: ToolContext, text: string): Promise<string> =>
      ctx.attachments.put(new TextEncoder().encode(text), meta).then(
        ({ id }) => id,
        ({ code }: { readonly code: string }) => code,
      );
    const texts = ["a".repeat(600), "a".repeat(600), "b".repeat(600), "c".repeat(400), "d"];
    const ids = await inBody((ctx) => Promise.all(texts.map((text) => put(ctx, text))), { attachments });
    const [first, again, refused, fits, none] = ids as readonly string[];
    expect([again, refused, none]).toEqual([first, "attachments_full", "attachments_full"]);
    const sizes = await Promise.all([first, fits].map(async (id) => (await attachments.bytes(id ?? ""))?.length));
    expect(sizes).toEqual([600, 400]);
  });

  it("keeps bytes, and reads what was prepared as what it is", async () => {
    const attachments = memoryAttachments();
    const bytes = new TextEncoder().encode("hi");
    const meta = { media_type: { kind: "image", type: "png" } } as const;
    const value = await inBody(async (ctx) => attachment(await ctx.attachments.put(bytes, meta)), { attachments });
    expect(value).toMatchObject({ ref: { byte_len: 2, media_type: meta.media_type } });
    const Payload = record<{ readonly to: string }>("struct Payload", { to: string });
    expect(
      await inBody(
        (ctx) => ctx.payloadAs(Payload).to,
        {},
        () => ({ to: "ann" }),
      ),
    ).toBe("ann");
    const bad = (ctx: ToolContext): string => {
      try {
        return ctx.payloadAs(Payload).to;
      } catch (thrown) {
        return (thrown as Error).message;
      }
    };
    expect(await inBody(bad, {}, () => ({ to: 7 }))).toMatch(/^the prepared payload: .*string/);
  });
});
