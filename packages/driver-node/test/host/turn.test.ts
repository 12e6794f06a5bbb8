/** Turns over the wire: begun, read live and late over reconnections, stopped, and held up by a budget. */
import { Runtime, defineTool, memoryJournal } from "@pawl/runtime";
import { type AgentDefinition, type ModelCall, type TurnFrame, turnCursorAfter } from "@pawl/runtime/driver";
import { describe, expect, it } from "vitest";
import { nodePlatform } from "../../src/index.ts";
import { until } from "../until.ts";
import { clientOf, greeted, hostOf, roots } from "./rig.ts";

const pay = defineTool({ name: "pay", needsApproval: true, execute: (args) => ({ paid: args as never }) });
const agent: AgentDefinition = { system: "Be short.", routes: [{ provider: "p", model: "m" }], tools: ["pay"] };

/** A model that says words when it is let, and one that pays first. */
const modelOf = () => {
  const said = { words: [] as string[], isOver: false };
  let wake: (() => void) | undefined;
  const ask = async (call: ModelCall) => {
    const usage = { input_tokens: 5, output_tokens: 5 };
    if (call.prompt.at(-1)?.role === "user" && JSON.stringify(call.prompt.at(-1)).includes("pay"))
      return {
        pieces: [{ b: 0, part: { type: "tool-call", id: "c", tool: "pay", args: { amount: 5 } } as const }],
        finish: { reason: "tool-calls" } as const,
        usage,
      };
    call.signal.addEventListener("abort", () => wake?.());
    for (let n = 0; !said.isOver || n < said.words.length;) {
      call.signal.throwIfAborted();
      if (n < said.words.length) call.say({ b: 0, type: "text", text: said.words[n++] as string });
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    return { pieces: [], finish: { reason: "stop" } as const, usage };
  };
  const say = (...words: readonly string[]): void => {
    said.words.push(...words);
    wake?.();
  };
  const end = (): void => {
    said.isOver = true;
    wake?.();
  };
  return { ask, say, end };
};

const hostWith = async (model: ReturnType<typeof modelOf>) => {
  const host = { models: () => model, agents: (name: string) => (name === "main" ? agent : undefined) };
  const how = { journal: memoryJournal(), platform: nodePlatform, tools: [pay], instance: "i1", roots, host };
  return hostOf([], { runtime: new Runtime(how) });
};

const textOf = (frames: readonly TurnFrame[]): string =>
  frames.reduce((text, frame) => {
    if (frame.type === "reset") return text.slice(0, frame.keep);
    return frame.type === "text" ? text.slice(0, frame.at) + frame.text : text;
  }, "");

describe("a turn at a host", () => {
  it("is begun by a client, and read live over connections that break", async () => {
    const model = modelOf();
    const client = clientOf(await hostWith(model));
    const session = client.session("s");
    const frames: TurnFrame[] = [];
    const reading = (async () => {
      for await (const frame of session.readTurn("t1")) frames.push(frame); // Its session is not there yet.
    })();
    const end = session.turn("t1", "Tell me.");
    for (const word of ["Once ", "upon ", "a ", "time."]) {
      model.say(word);
      await until(() => textOf(frames).endsWith(word));
      client.reconnect();
    }
    model.end();
    expect(await end).toMatchObject({ turn: "t1", status: "finished", text: "Once upon a time." });
    await reading;
    expect(textOf(frames)).toBe("Once upon a time.");
    expect(frames.filter(({ type }) => type === "reset" || type === "answered")).toHaveLength(1);
    const late: TurnFrame[] = [];
    for await (const frame of session.readTurn("t1", { from: { n: 1, attempt: 1, at: 5 } })) late.push(frame);
    expect(late[0]).toMatchObject({ type: "text", at: 5, text: "upon a time." });
    expect(await session.turn("t1", "Tell me.")).toMatchObject({ status: "finished" });
    await expect(session.turn("t1", "Tell her.")).rejects.toMatchObject({ code: "request_conflict" });
  });

  it("waits for a person who edits its call, and goes on", async () => {
    const model = modelOf();
    const session = clientOf(await hostWith(model)).session("s");
    const end = session.turn("t1", "pay it");
    await until(async () => (await session.approvals().catch(() => [])).length === 1);
    expect(await session.status("t1")).toMatchObject({ state: "waiting", waitsFor: "person" });
    for (const asked of await session.approvals()) await asked.approve({ args: { amount: 4 } });
    model.say("Paid.");
    model.end();
    expect(await end).toMatchObject({ status: "finished", text: "Paid." });
  });

  it("is stopped from a second client; what it said is its text", async () => {
    const model = modelOf();
    const host = await hostWith(model);
    const session = clientOf(host).session("s");
    const end = session.turn("t1", "Tell me.");
    model.say("Once ");
    const other = clientOf(host, { by: "bob" }).session("s");
    for await (const frame of other.readTurn("t1")) if (frame.type === "text") break;
    await other.cancel({ request: "t1" });
    expect(await end).toMatchObject({ status: "stopped", because: "cancelled", text: "Once " });
  });

  it("is held up by its budget until somebody decides, once", async () => {
    const model = modelOf();
    const session = clientOf(await hostWith(model)).session("s");
    const end = session.turn("t1", "pay it", { limits: { input_tokens: { limit: 3 } } });
    await until(async () => (await session.approvals().catch(() => [])).length === 1);
    for (const asked of await session.approvals()) await asked.approve({});
    await until(async () => (await session.budget()).parked !== undefined);
    const { parked, used, turn } = await session.budget();
    expect(turn).toBe("t1");
    expect(parked).toEqual({
      ask: 1,
      reached: [{ of: "turn", what: "input_tokens", limit: 3, used: 5 }],
    });
    expect(used).toMatchObject({ model_calls: 1, input_tokens: 5 });
    expect(await session.status("t1")).toMatchObject({ state: "waiting", waitsFor: "budget" });
    const small = session.decideBudget({ ask: 1, decision: "extend", add: { turn: { input_tokens: 1 } } });
    await expect(small).rejects.toMatchObject({ code: "extension_too_small" });
    const more = { ask: 1, decision: "extend", add: { turn: { input_tokens: 50 } }, id: "ann-1" } as const;
    await session.decideBudget(more);
    await session.decideBudget(more); // Its answer may have been lost.
    model.say("Done.");
    model.end();
    expect(await end).toMatchObject({ status: "finished", text: "Done." });
    const late = session.decideBudget({ ask: 1, decision: "stop" });
    await expect(late).rejects.toMatchObject({ code: "stale_decision" });
    await session.compact();
  });

  it("sends a slow reader no more than its window, and then all that it lacks as one", async () => {
    const model = modelOf();
    const host = await hostWith(model);
    const end = (await host.runtime.session("s")).turn("t1", "Tell me.");
    const raw = await greeted(host);
    raw.send({ type: "read_turn", id: 2, scope: "session:s", request: "t1", window: 1 });
    const read = () => raw.heard.filter(({ type }) => type === "turn_read");
    model.say("one ");
    await until(() => read().length === 1);
    for (let word = 0; word < 50; word++) model.say("more ");
    model.end();
    await end;
    expect(read()).toHaveLength(1);
    for (let n = 1; !raw.heard.some(({ type }) => type === "done"); n++) {
      raw.send({ type: "seen", id: 2, cursor: n });
      await until(() => read().length > n || raw.heard.some(({ type }) => type === "done"));
    }
    const frames = read().map(({ frame }) => frame as TurnFrame);
    expect(frames.length).toBeLessThanOrEqual(4);
    expect(textOf(frames)).toBe(`one ${"more ".repeat(50)}`);
    expect(turnCursorAfter(frames.at(-1) as TurnFrame)).toEqual({ n: 2, attempt: 1, at: 0 });
  });

  it("takes the rights that its questions need", async () => {
    const host = await hostWith(modelOf());
    await host.runtime.session("s");
    const denied = { code: "permission_denied" };
    const blind = clientOf(host, { rights: ["call"] }).session("s");
    await expect(blind.readTurn("t1").next()).rejects.toMatchObject(denied);
    await expect(blind.budget()).rejects.toMatchObject(denied);
    await expect(blind.decideBudget({ ask: 1, decision: "stop" })).rejects.toMatchObject(denied);
    const deaf = clientOf(host, { rights: ["observe", "approve"] }).session("s");
    await expect(deaf.turn("t1", "hi")).rejects.toMatchObject(denied);
    await expect(deaf.compact()).rejects.toMatchObject(denied);
    const raw = await greeted(host);
    raw.send({ type: "read_turn", id: 9, scope: "session:s", request: "t1", from: { n: 1 }, window: 1 });
    expect(await raw.until(({ type }) => type === "error")).toMatchObject({ code: "invalid_frame" });
  });

  it("shows what its model is told, and was told in each call", async () => {
    const model = modelOf();
    const session = clientOf(await hostWith(model)).session("s");
    model.say("Once.");
    model.end();
    await session.turn("t1", "Tell me.");
    const { messages, hash, ...told } = await session.prompt({ request: "t1", n: 1 });
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(hash).toMatch(/^[\da-f]{32}$/);
    expect(told).toMatchObject({ request: "t1", n: 1, attempt: 1, agent: "main", provider: "p", toolChoice: "auto" });
    expect((await session.prompt()).messages.map(({ role }) => role)).toEqual(["system", "user", "assistant"]);
    await expect(session.prompt({ request: "t2" })).rejects.toMatchObject({ code: "request_unknown" });
  });

  it("has its sub-agents' calls and budgets decided by clients of its session, and of no other", async () => {
    const model = modelOf();
    const asks = defineTool({
      name: "pay",
      durable: true,
      execute: async (_, ctx) => {
        const turn_input = { messages: [{ role: "user", content: "pay it" }] };
        const create_request = { agent: "clerk", limits: { input_tokens: { limit: 3 } } };
        const input = { type: "session_turn", create_request, turn_input, output_contract: null } as const;
        await ctx.processes.start({ id: ctx.subAgentId, input });
        return (await ctx.processes.await(ctx.subAgentId)).type;
      },
    });
    const sign = defineTool({ name: "sign", needsApproval: true, execute: () => "signed" });
    const clerk = { ...agent, tools: ["sign"], routes: [{ provider: "p", model: "clerk" }] };
    const ask = async (call: ModelCall) => {
      const answer = await model.ask(call);
      const pieces = answer.pieces.map((piece) => ({ ...piece, part: { ...piece.part, tool: "sign" } }));
      return { ...answer, pieces };
    };
    const host = {
      models: ({ model: name }: { readonly model: string }) => (name === "clerk" ? { ask } : model),
      agents: (name: string) => ({ main: agent, clerk })[name],
    };
    const how = { journal: memoryJournal(), platform: nodePlatform, tools: [asks, sign], instance: "i1", roots, host };
    const at = await hostOf([], { runtime: new Runtime(how) });
    const session = clientOf(at).session("s");
    const end = session.turn("t1", "pay it");
    model.say("Done.");
    model.end();
    const pending = async () => session.approvals({ deep: true }).catch(() => []);
    await until(async () => (await pending()).length === 1);
    const [call] = await pending();
    expect(call).toMatchObject({ kind: "call", subAgent: "s/t1/m1.0", approval: { tool: "sign" } });
    const other = clientOf(at).session("other");
    await other.turn("t0", "Tell me.");
    const { hash = "" } = call?.kind === "call" ? call.approval : {};
    const decision = { hash, subAgent: "s/t1/m1.0" };
    await expect(other.approve("turn:m1.0", decision)).rejects.toMatchObject({ code: "scope_unknown" });
    if (call?.kind === "call") await call.approval.approve({});
    await until(async () => (await pending())[0]?.kind === "budget");
    const [budget] = await pending();
    if (budget?.kind !== "budget") throw new Error("expected a budget");
    const add = { turn: { input_tokens: 100 } };
    await session.decideBudget({ ask: budget.ask, decision: "extend", add, subAgent: budget.subAgent });
    expect(await end).toMatchObject({ status: "finished", text: "Done." });
  });
});
