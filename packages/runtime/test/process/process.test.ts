import type { ProcessAwaitOutput, ProcessRegistration } from "@pawl/sansio-core";
import { describe, expect, it } from "vitest";
import { type HostPort, type Plugin, type ToolContext, type ToolDefinition, defineTool } from "../../src/index.ts";
import { type Process, World } from "../world.ts";
import { eventType, live, program, toolCall } from "./world.ts";

const held = { session_id: "s" };
const external = (id: string): ProcessRegistration => ({
  id,
  input: { type: "external", metadata: { label: "outside" } },
  identity: { kind: "external" },
  event_types: [],
  provenance: { originator: { type: "host" } },
});
const engine = (id: string, more: Partial<ProcessRegistration> = {}): ProcessRegistration => ({
  ...external(id),
  input: { type: "engine", kind: "flow", payload: null },
  env_ref: "process-env:sha256:0",
  event_types: [eventType("signal.go", {}, { type: "object", required: ["n"] }), eventType("note")],
  ...more,
});
const done: ProcessAwaitOutput = { type: "success", value: "done" };

/** An engine that goes on until it is told to stop, or to finish. */
class Patient {
  finish: ((output: ProcessAwaitOutput) => void) | undefined;
  readonly engines = {
    flow: {
      run: (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<ProcessAwaitOutput> =>
        new Promise((resolve) => {
          this.finish = resolve;
          const stop = (): void => resolve({ type: "cancelled", message: "stopped" });
          if (signal.aborted) stop();
          else signal.addEventListener("abort", stop);
        }),
    },
  };
}

const running = (run: () => Promise<never>): HostPort => ({ engines: { flow: { run } } });

const begin = (
  host: HostPort,
  tools: readonly ToolDefinition[] = [],
): { readonly world: World } & Process["runtime"] => {
  const world = new World();
  return Object.assign(world.start(tools, { host }).runtime, { world });
};

/** How a process ends under a host. */
const failed = async (host: HostPort): Promise<unknown> => {
  const { processes } = begin(host);
  await processes.start(engine("p"));
  return processes.await("p");
};

const messageOf = (thrown: Promise<unknown>): Promise<unknown> =>
  thrown.then(
    () => "no error",
    (error: Error) => error.message,
  );

describe("a process that the host starts", () => {
  it("that is external ends at once, and is the same when it is started again", async () => {
    const { processes } = begin({});
    await processes.start(external("x"));
    const record = await processes.start(external("x"));
    expect(record.status).toMatchObject({
      state: "completed",
      await_output: { value: { metadata: { label: "outside" } } },
    });
    expect(await messageOf(processes.start({ ...external("x"), identity: { kind: "other" } }))).toMatch(
      /^process `x` registration hash conflict: existing [0-9a-f]{64}, new [0-9a-f]{64}$/,
    );
    expect(await messageOf(processes.start(engine("y", { env_ref: undefined as never })))).toBe(
      "process `y` requires a captured execution env",
    );
    expect(await messageOf(processes.read("nobody"))).toBe("unknown process `nobody`");
  });

  it("that is a session's turn is run by the host's engine for these", async () => {
    const input = { type: "session_turn", create_request: { n: 1 }, turn_input: "hi", output_contract: null } as const;
    const turns: unknown[] = [];
    const run = async (record: { readonly input: unknown }): Promise<ProcessAwaitOutput> => (
      turns.push(record.input),
      done
    );
    const { processes } = begin({ engines: { session_turn: { run } } });
    await processes.start({ ...external("p"), input, identity: { kind: "session_turn" } });
    expect([await processes.await("p"), turns]).toEqual([done, [input]]);
  });

  it("whose engine is missing, throws or returns nonsense has failed", async () => {
    expect(await failed({})).toMatchObject({ type: "failure", class: "execution", code: "process_engine_missing" });
    expect(await failed(running(() => Promise.reject(new Error("boom"))))).toMatchObject({
      class: "execution",
      code: "process_recovery_failed",
      message: "boom",
    });
    expect(await failed(running(async () => 7 as never))).toMatchObject({ code: "process_recovery_failed" });
  });

  it("whose environment is not known has failed", async () => {
    const { processes } = begin({ environment: async () => undefined });
    await processes.start({ ...engine("p"), input: toolCall("work") });
    expect(await processes.await("p")).toEqual({
      type: "failure",
      class: "internal",
      code: "process_tool_failed",
      message: "environment `process-env:sha256:0` is not known here",
    });
  });

  it("is asked to end once for a reason, and its engine's end is its end", async () => {
    const { engines } = new Patient();
    const { processes } = begin({ engines });
    await processes.start(engine("p"));
    const stop = new AbortController();
    const end = processes.await("p", { signal: stop.signal });
    stop.abort();
    await processes.cancel("p", null);
    expect(await end).toEqual({ type: "cancelled", message: "stopped" });
    await processes.cancel("p", null);
    await processes.cancel("p", "another");
    const note = await processes.append("p", { event_type: "note", payload: null });
    expect(note.sequence).toBe(4);
    expect(await messageOf(processes.cancel("nobody", null))).toBe("unknown process `nobody`");
  });

  it("is ended by the host once: the same end again is nothing, another a conflict, another kind too late", async () => {
    const patient = new Patient();
    const { engines } = patient;
    const { processes } = begin({ engines });
    await processes.start(engine("p"));
    await processes.complete("p", done);
    expect((await processes.complete("p", done)).status.state).toBe("completed");
    expect(await messageOf(processes.complete("p", { type: "success", value: 2 }))).toBe(
      "process `p` event replay key `process:p:terminal:process.completed` conflicts with an existing event",
    );
    expect(await messageOf(processes.complete("p", { type: "cancelled", message: "" }))).toBe(
      "process `p` is already terminal",
    );
    patient.finish?.({ type: "success", value: "too late" });
    expect(await processes.await("p")).toEqual(done);
  });

  it("is signalled by those who hold it, with what its types allow", async () => {
    const { engines } = new Patient();
    const { processes, world } = begin({ engines });
    await processes.start(engine("p", { wake_target: held }));
    await world.quiet();
    const go = { name: "go", payload: { n: 1 }, signalId: "s1" };
    expect((await processes.signal("p", { ...go, holder: held })).sequence).toBe(1);
    expect((await processes.signal("p", go)).sequence).toBe(1);
    expect(await messageOf(processes.signal("p", { ...go, holder: { session_id: "other" } }))).toBe(
      "process handle `p` is not live or visible in this session",
    );
    expect(await messageOf(processes.signal("p", { ...go, payload: 1, signalId: "s2" }))).toMatch(
      /^invalid `signal.go` payload: /,
    );
    expect(await messageOf(processes.signal("p", { ...go, name: "a b" }))).toContain("process signal name must be");
    expect(await messageOf(processes.signal("p", { ...go, name: "stop", signalId: "s3" }))).toBe(
      "process `p` emitted undeclared event type `signal.stop`",
    );
  });

  it("is seen by its observers, who can not hurt it", async () => {
    const seen: string[] = [];
    const thrown: string[] = [];
    const { processes } = begin({
      observeProcess: (scope, { what }) => {
        seen.push(`${scope} ${what}`);
        throw new Error("blind");
      },
      internalError: (what) => thrown.push(what),
    });
    await processes.start(external("x"));
    expect(seen).toEqual(["process:x registered", "process:x event", "process:x ended"]);
    expect(thrown).toHaveLength(3);
  });
});

describe("handles", () => {
  it("are listed, handed on, validated, and cancelled but for those to keep", async () => {
    const { engines } = new Patient();
    const { processes, world } = begin({ engines });
    for (const id of ["a", "b"]) await processes.start(engine(id, { wake_target: held }));
    await world.quiet();
    expect((await processes.list(held)).map(({ id }) => id)).toEqual(["a", "b"]);
    await processes.validate(held, ["a", "b"]);
    expect(await messageOf(processes.validate(held, ["c"]))).toBe("process handle `c` is not granted to session `s`");
    expect((await processes.cancelUnreferenced(held, ["a"], "not needed")).map(({ id }) => id)).toEqual(["b"]);
    expect(await processes.await("b")).toMatchObject({ type: "cancelled" });
    await world.quiet();
    expect((await processes.list(held)).map(({ id }) => id)).toEqual(["a"]);
    expect(await processes.list(held, "all", ({ status }) => status === "cancelled")).toMatchObject([{ id: "b" }]);
    await processes.transfer(held, { session_id: "t" }, ["a"]);
    expect(await messageOf(processes.transfer(held, { session_id: "t" }, ["a"]))).toContain("is not granted");
    await world.quiet();
    expect((await processes.list({ session_id: "t" })).map(({ id }) => id)).toEqual(["a"]);
    await processes.cancelAll({ session_id: "t" }, null);
    expect(await processes.await("a")).toMatchObject({ type: "cancelled" });
  });
});

describe("a session that is deleted", () => {
  it("reports what lives on, ends its calls, and is woken by nothing", async () => {
    const { engines } = new Patient();
    const woken: string[] = [];
    const wakes = eventType("note", { wake: { input: "payload", dedupe_key: "event_identity" } });
    const body = program("body", (ctx) => ctx.sleep(1e9));
    const runtime = begin({ engines, wake: async ({ input }) => void woken.push(input) }, [body]);
    const { processes, world } = runtime;
    for (const id of ["a", "b"]) await processes.start(engine(id, { wake_target: held, event_types: [wakes] }));
    await world.quiet();
    const session = await runtime.session("s");
    const reply = session.call("r", [{ id: "b", tool: "body", args: {} }]);
    await processes.transfer(held, { session_id: "t" }, ["b"]);
    await processes.append("a", { event_type: "note", payload: "before" });
    await world.quiet();
    const report = processes.deleteSession("s");
    expect(await report).toEqual({ orphaned: ["a"], preserved: [] });
    expect(await processes.deleteSession("s")).toEqual({ orphaned: ["a"], preserved: [] });
    world.platform.advance(100);
    expect((await reply)[0]?.output.outcome.status).toBe("cancelled");
    await processes.append("a", { event_type: "note", payload: "after" });
    await world.quiet();
    expect(woken).toEqual(["before"]);
    expect((await processes.read("a")).status.state).toBe("running");
    expect((await processes.read("a")).wake_target).toBeUndefined();
    expect(await processes.deleteSession("t")).toEqual({ orphaned: ["b"], preserved: [] });
    expect(await messageOf(session.call("r2", [{ id: "b", tool: "body", args: {} }]))).toContain("was deleted");
  });
});

const reply = async (
  execute: (ctx: ToolContext) => Promise<unknown>,
  more: readonly ToolDefinition[] = [],
  host: HostPort = {},
) => {
  const { output } = await live([program("body", execute), ...more], undefined, host);
  return (output as { readonly payload: unknown }).payload;
};
const told = async (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => "no error",
    ({ code, message }: { readonly code: string; readonly message: string }) => [code, message],
  );

describe("a body's processes", () => {
  const worker = program("work", async () => "worked");

  it("are refused where it has no handle, also when it awaits them in a race", async () => {
    const text = "process handle `stranger` is not live or visible in this session";
    const found = await reply(async ({ processes, race, sleep }) => [
      await told(processes.cancel("stranger")),
      await told(processes.signal("stranger", "go", null)),
      await told(processes.await("stranger")),
      await told(processes.signal("stranger", "a b", null)),
      await told(processes.validateHandles(["stranger"])),
      await told(processes.transferHandles("t", ["stranger"])),
      await told(race([sleep(5), processes.await("stranger")])),
    ]);
    expect(found).toEqual([
      ["handle_refused", text],
      ["handle_refused", text],
      ["handle_refused", text],
      ["process_refused", expect.stringContaining("got `a b`")],
      ["handle_refused", "process handle `stranger` is not granted to session `s`"],
      ["handle_refused", "process handle `stranger` is not granted to session `s`"],
      ["handle_refused", text],
    ]);
  });

  it("conflict when another is started under the same id", async () => {
    const found = await reply(
      async ({ processes }) => {
        await processes.start({ id: "p", input: toolCall("work") });
        const again = await processes.start({ id: "p", input: toolCall("work") });
        return [again.id, await told(processes.start({ id: "p", input: toolCall("work", { other: 1 }) }))];
      },
      [worker],
    );
    expect(found).toEqual(["p", ["process_conflict", expect.stringContaining("registration hash conflict")]]);
  });

  it("are listed, handed to a frame, and cancelled but for those to keep", async () => {
    const idle = program("idle", ({ awaitEventJson }) => awaitEventJson("never"));
    const found = await reply(
      async ({ processes }) => {
        for (const id of ["a", "b", "c"]) await processes.start({ id, input: toolCall("idle") });
        await processes.transferHandlesToFrame("f", ["c"]);
        const listed = (await processes.listHandles()).map(({ id }) => id);
        const cancelled = await processes.cancelUnreferencedHandles(["a"]);
        const end = await processes.await("b");
        const astray = await told(processes.transferHandles(5 as never, ["a"]));
        expect(astray).toEqual(["durable_effect_value", expect.stringContaining("$.to.session_id")]);
        const all = (await processes.listAllHandles()).map(({ id, status }) => [id, status]);
        return [listed, cancelled, end.type, all, await told(processes.validateHandles(["c"]))];
      },
      [idle],
    );
    expect(found).toEqual([
      ["a", "b"],
      [{ process_id: "b", status: "running" }],
      "cancelled",
      [
        ["a", "running"],
        ["b", "cancelled"],
      ],
      ["handle_refused", "process handle `c` is not granted to session `s`"],
    ]);
  });

  it("are asked to end when its wait for them is called off, and their real end is awaited", async () => {
    const idle = program("idle", ({ awaitEventJson }) => awaitEventJson("never"));
    const found = await reply(
      async ({ processes, sleep }) => {
        await processes.start({ id: "a", input: toolCall("idle") });
        const stop = new AbortController();
        const end = processes.await("a", { signal: stop.signal });
        await sleep(10);
        stop.abort();
        return (await end).type;
      },
      [idle],
    );
    expect(found).toBe("cancelled");
  });

  it("can start others, on behalf of the session, and await them", async () => {
    const parent = program("parent", async ({ processes }) => {
      await processes.start({ id: "child", input: toolCall("work") });
      return [await processes.await("child"), await told(processes.await("stranger")), await processes.listHandles()];
    });
    const found = await reply(
      async ({ processes }) => {
        await processes.start({ id: "p", input: toolCall("parent") });
        const end = await processes.await("p");
        return [end, (await processes.listAllHandles()).map(({ id }) => id)];
      },
      [worker, parent],
    );
    const refusal = ["handle_refused", "process handle `stranger` is not live or visible in this session"];
    expect(found).toEqual([
      { type: "success", value: [{ type: "success", value: "worked" }, refusal, []] },
      ["p", "child"],
    ]);
  });

  it("wait until their link has room for what they say", async () => {
    const world = new World();
    const listening = program("work", async ({ processEvents }) => {
      const heard: unknown[] = [];
      for (let i = 0; i < 5; i++) heard.push(await processEvents.awaitSignal("go"));
      return heard;
    });
    const body = program("body", async ({ processes }) => {
      await processes.start({ id: "p", input: toolCall("work"), event_types: [eventType("signal.go")] });
      const said = [0, 1, 2, 3, 4].map((n) => processes.signal("p", "go", n, `s${n}`));
      await Promise.all(said);
      return processes.await("p");
    });
    const { runtime } = world.start([body, listening], { options: { max_unanswered: 1 } });
    const replies = await (await runtime.session("s")).call("r", [{ id: "b", tool: "body", args: {} }]);
    expect(replies[0]?.output.outcome).toMatchObject({ payload: { value: [0, 1, 2, 3, 4] } });
  });
});

describe("events of a process", () => {
  it("are refused outside of one, in the order of what is wrong", async () => {
    const found = await reply(async (ctx) => [
      await told(ctx.emitProcessEvent("", 1)),
      await told(ctx.processEvents.emit("note", 1)),
      await told(ctx.processEvents.waitEventAfter("note", 0)),
      await told(ctx.processEvents.awaitSignal("go")),
    ]);
    const [code, outside] = ["process_events_unavailable", "is unavailable outside a durable process"];
    expect(found).toEqual([
      [
        "durable_effect_process_event_unavailable",
        "durable effect process events are unavailable outside a durable process",
      ],
      [code, `process event emission ${outside}`],
      [code, `process event waiting ${outside}`],
      [code, `process event waiting ${outside}`],
    ]);
  });

  it("are appended once under a key that their program names", async () => {
    const work = program("work", async ({ processEvents }) => {
      const request = { event_type: "note", payload: "a", replay: { key: "mine" } };
      const [first, again] = [await processEvents.emitRequest(request), await processEvents.emitRequest(request)];
      return [first.sequence, again.sequence, first.invocation.replay?.key];
    });
    const found = await reply(
      async ({ processes }) => {
        await processes.start({ id: "p", input: toolCall("work"), event_types: [eventType("note")] });
        return processes.await("p");
      },
      [work],
    );
    expect(found).toMatchObject({ value: [1, 1, "mine"] });
  });

  it("are numbered though one of them fails, and say why it failed", async () => {
    const work = program("work", async (ctx) => [
      await told(ctx.emitProcessEvent(" ", 1)),
      await told(ctx.emitProcessEvent("nope", 1)),
      await told(ctx.emitProcessEvent("note", 1)),
      (await ctx.emitProcessEvent("note", "fits")).invocation.replay,
      (await ctx.processEvents.emit("note", "more")).sequence,
      (await ctx.processEvents.waitEventAfter("note", 1)).payload,
    ]);
    const found = await reply(
      async ({ processes }) => {
        const note = eventType("note", {}, { type: "string" });
        await processes.start({ id: "p", input: toolCall("work"), event_types: [note] });
        return processes.await("p");
      },
      [work],
    );
    const code = "durable_effect_process_event_append_failed";
    expect(found).toMatchObject({
      value: [
        ["durable_effect_empty_process_event_type", "durable effect process event type must be non-empty"],
        [code, "process `p` emitted undeclared event type `nope`"],
        [code, expect.stringMatching(/^invalid `note` payload: /)],
        { key: "tool:c:durable-process-event:2" },
        2,
        "more",
      ],
    });
  });
});

describe("the handle tools", () => {
  const strict = defineTool({
    name: "strict",
    durable: true,
    parameters: { type: "object", required: ["n"] },
    prepare: () => ({ ready: true }),
    execute: async (_, ctx) => ({ payload: ctx.payload }),
  });
  const listening = program("listening", ({ processEvents }) => processEvents.awaitSignal("go"));

  it("start a call apart, and await its output", async () => {
    const found = (await reply(
      async ({ handleTools }) => {
        const started = await handleTools.startToolCall("x", "strict", { n: 1 });
        const handle = (started.output.outcome as unknown as { readonly payload: never }).payload;
        return [started, await handleTools.awaitProcess("y", handle)];
      },
      [strict],
    )) as readonly { readonly output: unknown; readonly record: unknown }[];
    const handle = { __handle__: "process", id: "s/r/b/x" };
    expect(found[0]).toMatchObject({
      output: { outcome: { status: "success", payload: handle } },
      record: { call_id: "x", tool: "strict", args: { n: 1 }, duration_ms: 0 },
    });
    expect(found[1]).toMatchObject({
      output: { outcome: { status: "success", payload: { payload: { ready: true } } } },
      record: { call_id: "y", tool: "await_process", args: { handle } },
    });
  });

  it("run the hooks before such a call, as before every call", async () => {
    const heard: unknown[] = [];
    const plugin: Plugin = {
      id: "p",
      beforeToolCall: ({ callId, tool, args }) => {
        heard.push([callId, tool, args]);
        if (callId === "z") return [{ kind: "replace_tool_args", args: new Date(0) as never } as const];
        if (callId === "x") return [{ kind: "replace_tool_args", args: { n: 7 } } as const];
        return callId === "y" ? [{ kind: "abort_turn", code: "no", message: "not today" } as const] : [];
      },
    };
    const found = (await reply(
      async ({ handleTools }) => [
        await handleTools.startToolCall("x", "strict", {}),
        await handleTools.startToolCall("y", "strict", { n: 1 }),
        await handleTools.startToolCall("z", "strict", { n: 1 }),
      ],
      [strict],
      { plugins: [plugin] },
    )) as readonly unknown[];
    expect(found).toMatchObject([
      { output: { outcome: { status: "success" } }, record: { call_id: "x", args: { n: 7 } } },
      { output: { outcome: { status: "failure", payload: { message: "not today" } } }, record: { call_id: "y" } },
      { output: { outcome: { status: "failure", payload: { code: "before_tool_call_failed" } } } },
    ]);
    expect(heard).toEqual([
      ["b", "body", {}],
      ["x", "strict", {}],
      ["y", "strict", { n: 1 }],
      ["z", "strict", { n: 1 }],
    ]);
  });

  it("answer at once where the call can not be prepared", async () => {
    const found = await reply(
      async ({ handleTools }) => [
        (await handleTools.startToolCall("x", "strict", {})).output.outcome,
        (await handleTools.startToolCall("y", "nobody", {})).output.outcome,
      ],
      [strict],
    );
    expect(found).toMatchObject([
      { status: "failure", payload: { class: "invalid_request", code: "invalid_tool_args" } },
      { payload: { class: "unavailable", code: "tool_unavailable", message: "Tool is unavailable in this session" } },
    ]);
  });

  it("say what is wrong in their own words", async () => {
    const handle = { __handle__: "process", id: "stranger", note: "more" };
    const refusal = "process handle `stranger` is not live or visible in this session";
    const found = (await reply(
      async ({ handleTools }) => [
        await handleTools.awaitProcess("1", {}),
        await handleTools.cancelProcess("2", { __handle__: "file" }),
        await handleTools.awaitProcess("3", handle),
        await handleTools.signalProcess("4", handle, "go", 1),
        await handleTools.cancelProcess("5", handle),
      ],
      [listening],
    )) as readonly { readonly output: { readonly outcome: { readonly payload: { readonly message: string } } } }[];
    expect(found.map(({ output }) => output.outcome.payload.message)).toEqual([
      "Invalid process handle: missing `__handle__`",
      "Invalid process handle kind: file",
      refusal,
      `signal failed: ${refusal}`,
      `cancel failed: ${refusal}`,
    ]);
    expect(found[3]).toMatchObject({
      record: { tool: "signal_process", args: { handle, signal_name: "go", payload: 1 } },
    });
  });

  it("cancel what they started", async () => {
    const idle = program("idle", ({ awaitEventJson }) => awaitEventJson("never"));
    const found = await reply(
      async ({ handleTools }) => {
        const started = await handleTools.startToolCall("x", "idle", {});
        const handle = (started.output.outcome as unknown as { readonly payload: never }).payload;
        const cancelled = await handleTools.cancelProcess("y", handle);
        const end = await handleTools.awaitProcess("z", handle);
        return [cancelled.output.outcome, end.output.outcome];
      },
      [idle],
    );
    expect(found).toMatchObject([
      { status: "success", payload: { process_id: "s/r/b/x", status: "running" } },
      { status: "cancelled", payload: { source: "cancellation" } },
    ]);
  });
});
