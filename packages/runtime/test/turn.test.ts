/** Turns over a runtime: a scripted model, tools, people, readers, and a process that dies at every append. */
import type { AnswerPart, TurnEnd } from "@pawl/sansio-core/driver";
import { describe, expect, it } from "vitest";
import { type Session, defineTool } from "../src/index.ts";
import {
  type AgentDefinition,
  type ModelAnswer,
  type ModelCall,
  ModelError,
  type ModelPort,
  type ReadTurnOptions,
  type TurnFrame,
  turnCursorAfter,
} from "../src/driver.ts";
import { type Process, World } from "./world.ts";

const text = (said: string): AnswerPart => ({ type: "text", text: said });
const call = (tool: string, args: object = {}): AnswerPart => ({
  type: "tool-call",
  id: `c-${tool}`,
  tool,
  args: { ...args },
});

const answer = (...parts: readonly AnswerPart[]): ModelAnswer => ({
  pieces: parts.map((part, b) => ({ b, part })),
  finish: { reason: parts.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop" },
  usage: { input_tokens: 10, output_tokens: 5 },
});

type Script = (call: ModelCall, asked: number) => ModelAnswer | Promise<ModelAnswer>;

/** A model that answers as a script says, and counts what it is asked. */
class ScriptedModel implements ModelPort {
  readonly calls: ModelCall[] = [];
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
  }

  async ask(asked: ModelCall): Promise<ModelAnswer> {
    this.calls.push(asked);
    return this.#script(asked, this.calls.length);
  }
}

const look = defineTool({ name: "look", durable: true, execute: async () => ({ seen: true }) });
const main: AgentDefinition = { system: "Be short.", routes: [{ provider: "p", model: "m" }] };

const hostOf = (model: ModelPort, agent: AgentDefinition = main) => ({
  models: () => model,
  agents: (name: string) => (name === "main" ? agent : undefined),
});

const start = (model: ModelPort, agent?: AgentDefinition, world = new World()): Process =>
  world.start([look], { host: hostOf(model, agent) });

/** Asks for a tool first, and says what it has seen when the result is there. */
const looksOnce: Script = ({ prompt }) =>
  prompt.some(({ role }) => role === "tool") ? answer(text("I saw it.")) : answer(text("Let me look."), call("look"));

const ended = (end: TurnEnd) => {
  const { used: _, ...rest } = end;
  return rest;
};

describe("a turn", () => {
  it("asks the model, runs its tools, and asks again with the results", async () => {
    const model = new ScriptedModel(looksOnce);
    const { runtime } = start(model);
    const session = await runtime.session("s");
    const end = await session.turn("t1", "Look at it.");
    expect(ended(end)).toEqual({ turn: "t1", frame: "main", status: "finished", text: "I saw it." });
    expect(end.used).toMatchObject({ model_calls: 2, input_tokens: 20, output_tokens: 10, total_tokens: 30 });
    expect(model.calls.map(({ key }) => key)).toEqual(["session:s/t1:model:1.0", "session:s/t1:model:2.0"]);
    expect(model.calls[1]?.prompt).toEqual([
      { role: "system", content: "Be short." },
      { role: "user", content: [{ type: "text", text: "Look at it." }] },
      {
        role: "assistant",
        content: [text("Let me look."), { type: "tool-call", id: "c-look", tool: "look", args: {} }],
      },
      {
        role: "tool",
        content: [{ type: "tool-result", id: "c-look", tool: "look", output: { type: "text", text: '{"seen":true}' } }],
      },
    ]);
    expect(model.calls[0]?.tools.map(({ name }) => name)).toEqual(["look"]);
    await runtime.close();
  });

  it("is answered as it was when it is submitted again, and refused with another body", async () => {
    const model = new ScriptedModel(() => answer(text("Yes.")));
    const { runtime } = start(model);
    const session = await runtime.session("s");
    const end = await session.turn("t1", "Is it so?");
    expect(await session.turn("t1", "Is it so?")).toEqual(end);
    await expect(session.turn("t1", "Is it not?")).rejects.toMatchObject({ code: "request_conflict" });
    expect(model.calls.length).toBe(1);
    await runtime.close();
  });

  it("goes on in the same history", async () => {
    const model = new ScriptedModel((_, asked) => answer(text(`${asked}`)));
    const { runtime } = start(model);
    const session = await runtime.session("s");
    await session.turn("t1", "one");
    await session.turn("t2", "two");
    expect(model.calls[1]?.prompt.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    await runtime.close();
  });

  it("fails where nobody asks its model, and where its agent is not known", async () => {
    const { runtime } = new World().start([look], { host: { agents: (name) => (name === "main" ? main : undefined) } });
    const session = await runtime.session("s");
    expect(await session.turn("t1", "hi")).toMatchObject({ status: "failed", code: "model_unavailable" });
    expect(await session.turn("t2", "hi", { agent: "nobody" })).toMatchObject({
      status: "failed",
      code: "agent_unknown",
    });
    await runtime.close();
  });

  it("tries again after a failure, under another key", async () => {
    const model = new ScriptedModel((_, asked) => {
      if (asked === 1) throw new ModelError("overloaded", "busy", { retryAfterMs: 0 });
      return answer(text("Here."));
    });
    const { runtime } = start(model);
    const session = await runtime.session("s");
    expect(await session.turn("t1", "hi")).toMatchObject({ status: "finished", text: "Here." });
    expect(model.calls.map(({ key, attempt }) => `${key.split(":").at(-1)} ${attempt}`)).toEqual(["1.0 1", "1.1 2"]);
    await runtime.close();
  });

  it("takes a value of the form that is wanted, and has one that does not fit repaired", async () => {
    const model = new ScriptedModel((_, asked) => answer(text(asked === 1 ? '{"n":"one"}' : '{"n":1}')));
    const { runtime } = start(model);
    const session = await runtime.session("s");
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const end = await session.turn("t1", "count", { output: { schema } });
    expect(end).toMatchObject({ status: "finished", value: { n: 1 } });
    expect(model.calls.length).toBe(2);
    await runtime.close();
  });
});

/** Reads a turn to its end. */
const framesOf = async (
  session: Session,
  request: string,
  options?: ReadTurnOptions,
): Promise<readonly TurnFrame[]> => {
  const frames: TurnFrame[] = [];
  for await (const frame of session.readTurn(request, options)) frames.push(frame);
  return frames;
};

/** A model that says words until it is told to stop, or `finish` is called. */
const speaking = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<ModelCall>();
  const model = new ScriptedModel(async (asked) => {
    asked.say({ b: 0, type: "text", text: "Once " });
    begin(asked);
    await Promise.race([
      promise,
      new Promise((_, reject) => {
        asked.signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
      }),
    ]);
    return { pieces: [{ b: 0, text: "upon." }], finish: { reason: "stop" }, usage: {} };
  });
  return { model, begun, finish: resolve };
};

describe("an answer as it comes", () => {
  it("is read along, from a place that the reader has", async () => {
    const { model, begun, finish } = speaking();
    const { runtime } = start(model);
    const session = await runtime.session("s");
    const end = session.turn("t1", "tell");
    await begun;
    const reading = framesOf(session, "t1");
    const late = framesOf(session, "t1", { from: { n: 1, attempt: 1, at: 3 } });
    await new Promise((resolve) => setImmediate(resolve));
    finish();
    expect(await end).toMatchObject({ status: "finished", text: "Once upon." });
    const of = { n: 1, attempt: 1 };
    expect(await reading).toEqual([
      { type: "text", ...of, at: 0, text: "Once " },
      { type: "text", ...of, at: 5, text: "upon." },
      { type: "answered", ...of, at: 10 },
    ]);
    expect((await late)[0]).toEqual({ type: "text", ...of, at: 3, text: "e " });
    await runtime.close();
  });

  it("is read from before its beginning to its end, over all model calls, and again from the log", async () => {
    const model = new ScriptedModel(looksOnce);
    const world = new World();
    const { runtime } = start(model, main, world);
    const session = await runtime.session("s");
    const reading = framesOf(session, "t1"); // Nobody has submitted it yet.
    await session.turn("t1", "Look at it.", { keep: true });
    const wanted: readonly TurnFrame[] = [
      { type: "part", n: 1, attempt: 1, at: 0, part: text("Let me look.") },
      { type: "part", n: 1, attempt: 1, at: 1, part: call("look") },
      { type: "answered", n: 1, attempt: 1, at: 2 },
      { type: "part", n: 2, attempt: 1, at: 0, part: text("I saw it.") },
      { type: "answered", n: 2, attempt: 1, at: 1 },
    ];
    expect(await reading).toEqual(wanted);
    await runtime.close();
    const later = start(model, main, world);
    const again = await later.runtime.session("s");
    expect(await framesOf(again, "t1", { from: { n: 1, attempt: 1, at: 0 } })).toEqual(wanted);
    for (const [index, frame] of wanted.entries())
      expect(await framesOf(again, "t1", { from: turnCursorAfter(frame) })).toEqual(wanted.slice(index + 1));
    await expect(framesOf(again, "t1", { from: { n: 1, attempt: 1, at: 3 } })).rejects.toMatchObject({
      code: "cursor_ahead",
    });
    await later.runtime.close();
  });

  it("waits for its turn where so many models are asked already, and may be stopped there", async () => {
    const { model, begun, finish } = speaking();
    const world = new World();
    const { runtime } = world.start([look], { host: hostOf(model), turns: { maxModelCalls: 1 } });
    const [a, b] = [await runtime.session("a"), await runtime.session("b")];
    const first = a.turn("t", "tell");
    await begun;
    const second = b.turn("t", "tell");
    const third = b.turn("t2", "tell");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(model.calls.length).toBe(1);
    await b.cancel({ request: "t" });
    expect(await second).toMatchObject({ status: "stopped", because: "cancelled" });
    finish();
    expect(await first).toMatchObject({ status: "finished" });
    expect(await third).toMatchObject({ status: "finished" });
    expect(model.calls.length).toBe(2);
    await runtime.close();
  });

  it("is asked for again under the same key after its runtime was closed in mid-word", async () => {
    const { model, begun } = speaking();
    const world = new World();
    const closing = start(model, main, world);
    const session = await closing.runtime.session("s");
    session.turn("t1", "tell").catch(() => undefined);
    await begun;
    const lost = expect(framesOf(session, "t1")).rejects.toMatchObject({ code: "scope_lost" });
    void session.describe({ title: "It closes while this is written." });
    await closing.runtime.close();
    await lost;
    const next = new ScriptedModel(() => answer(text("Whole.")));
    const { runtime } = start(next, main, world);
    const again = await runtime.session("s");
    expect(await framesOf(again, "t1", { from: { n: 1, attempt: 1, at: 3 } })).toEqual([
      { type: "reset", n: 1, attempt: 2, keep: 0 },
      { type: "part", n: 1, attempt: 2, at: 0, part: text("Whole.") },
      { type: "answered", n: 1, attempt: 2, at: 1 },
    ]);
    expect(next.calls.map(({ key }) => key)).toEqual(model.calls.map(({ key }) => key));
    await runtime.close();
  });

  it("is stopped by a cancel: what was said stays in the history", async () => {
    const { model, begun } = speaking();
    const { runtime } = start(model);
    const session = await runtime.session("s");
    const end = session.turn("t1", "tell");
    await begun;
    await session.cancel({ request: "t1" });
    expect(ended(await end)).toEqual({
      turn: "t1",
      frame: "main",
      status: "stopped",
      because: "cancelled",
      text: "Once ",
    });
    expect(session.state.conversation.frames.get("main")?.entries.map(({ type }) => type)).toEqual(["user", "cut"]);
    await runtime.close();
  });
});

describe("a process that dies in a turn", () => {
  it("leaves a turn that ends the same, wherever it died; an answer on record is not asked for again", async () => {
    const whole = new ScriptedModel(looksOnce);
    const plain = new World();
    const first = start(whole, main, plain);
    const wanted = ended(await (await first.runtime.session("s")).turn("t1", "Look at it."));
    await first.runtime.close();
    for (const when of ["before", "after"] as const) {
      for (let append = 2; append <= 12; append++) {
        const world = new World();
        const model = new ScriptedModel(looksOnce);
        const dying = world.start([look], { host: hostOf(model), death: { append, when } });
        void dying.runtime.session("s").then(
          (session) => session.turn("t1", "Look at it."),
          () => undefined,
        );
        for (let i = 0; i < 300 && !dying.isDead; i++) await new Promise((resolve) => setImmediate(resolve));
        dying.kill();
        const next = world.start([look], { host: hostOf(model) });
        const session = await next.runtime.session("s");
        const end = ended(await session.turn("t1", "Look at it."));
        expect(end, `${when} append ${append}`).toEqual(wanted);
        const keys = model.calls.map(({ key }) => key);
        expect(new Set(keys).size, `${when} append ${append}`).toBe(2);
        expect(keys.length, `${when} append ${append}`).toBeLessThanOrEqual(3);
        await next.runtime.close();
      }
    }
  });
});

const starting = (turns: object) => (): Process => new World().start([look], { turns });

describe("the options of turns", () => {
  it("are refused where nothing would act on them", () => {
    expect(starting({ maxModelCalls: 0 })).toThrow("`turns.maxModelCalls`");
    expect(starting({ maxModelCall: 1 })).toThrow(
      "`turns.maxModelCall` is no option: expected some of checkpointChars",
    );
  });
});
