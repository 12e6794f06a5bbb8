/** Agents as data: what a program says of them, what is on record, and how their turns are read. */
import { Refused, defineTool } from "@pawl/runtime";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { type AgentTurn, TurnFailed, agentHost, defineAgent, handoff, scriptedModel } from "../src/index.ts";
import { framesOf, open, textOf } from "./world.ts";

const look = defineTool({ name: "look", readOnly: true, execute: async () => ({ seen: true }) });

const looker = (wordMs = 0) =>
  defineAgent({
    instructions: "Be short.",
    model: scriptedModel(
      [
        { text: "Let me look.", calls: [{ tool: "look" }] },
        { reasoning: "A wheel.", text: "It is a wheel." },
      ],
      { wordMs },
    ),
    tools: [look],
    limits: { modelCalls: 5, totalTokens: { limit: 9999, whenReached: "fail" } },
  });

describe("an agent", () => {
  it("is data on record, and its turn a stream of words with a place and an end", async () => {
    const agent = looker();
    const { session, close } = await open([agent]);
    const turn = agent.turn(session, "What is it?", { id: "t1" });
    const frames = await framesOf(turn);
    expect(textOf(frames)).toBe("Let me look.It is a wheel.");
    expect(frames.filter(({ type }) => type === "part")).toMatchObject([{ n: 1, part: { tool: "look", args: {} } }]);
    expect(frames.some((frame) => frame.type === "text" && frame.of === "reasoning")).toBe(true);
    expect(await turn.end).toMatchObject({ status: "finished", text: "It is a wheel.", used: { model_calls: 2 } });
    expect(await turn.text()).toBe("It is a wheel.");
    expect(turn.cursor).toEqual({ n: 3, attempt: 1, at: 0 });
    const row = session.state.conversation.agents.get("main");
    expect(row).toMatchObject({
      limits: { model_calls: { limit: 5 }, total_tokens: { limit: 9999 } },
      tools: ["look"],
    });
    expect(row?.limits?.total_tokens?.then).toBe("fail");
    await close();
  });

  it("goes on from the place that a reader had; the same id joins the turn", async () => {
    const agent = looker(1);
    const { session, close } = await open([agent]);
    const first = agent.turn(session, "What is it?", { id: "t1" });
    const seen: string[] = [];
    for await (const frame of first) {
      if (frame.type !== "text") continue;
      seen.push(frame.text);
      if (seen.length === 2) break; // Leaving stops nothing.
    }
    const { cursor } = first;
    if (cursor === undefined) throw new Error("nothing was told");
    const second = agent.turn(session, "What is it?", { id: "t1", from: cursor });
    const rest = textOf(await framesOf(second));
    expect(`${seen.join("")}${rest}`).toBe("Let me look.It is a wheel.");
    expect(await second.end).toEqual(await first.end);
    await close();
  });

  it("is stopped, and keeps what it said", async () => {
    const agent = defineAgent({ model: scriptedModel(["one two three four five six"], { wordMs: 20 }) });
    const { session, close } = await open([agent]);
    const turn = agent.turn(session, "Count.", { id: "t1" });
    for await (const frame of turn) if (frame.type === "text") await turn.stop();
    expect(await turn.end).toMatchObject({ status: "stopped", because: "cancelled" });
    expect((await turn.text()).startsWith("one")).toBe(true);
    await expect(turn.value()).rejects.toThrow("turn `t1` has no value: it was stopped: cancelled");
    await close();
  });

  it("tells readers why its turn was refused", async () => {
    const agent = defineAgent({ model: scriptedModel(["one two three"], { wordMs: 20 }) });
    const { session, close } = await open([agent]);
    const running = agent.turn(session, "Count.", { id: "t1" });
    for await (const frame of running) if (frame.type === "text") break;
    const refused = agent.turn(session, "And me?", { id: "t2", whenBusy: "refuse" });
    await expect(framesOf(refused)).rejects.toMatchObject({ code: "session_busy" });
    await running.end;
    await close();
  });

  it("returns a value of the form that it wants, typed by its schema", async () => {
    const agent = defineAgent({
      model: scriptedModel(["no JSON", '{"total":12}']),
      output: { schema: z.object({ total: z.number() }), repairs: 1 },
    });
    const { session, close } = await open([agent]);
    const turn = agent.turn(session, "Add.", { id: "t1" });
    const value = await turn.value();
    expectTypeOf(value).toEqualTypeOf<{ total: number }>();
    expect(value).toEqual({ total: 12 });
    await close();
  });

  it("has no type of its values without a form, and says that there is none", async () => {
    const agent = defineAgent({ model: scriptedModel(["Yes."]) });
    expectTypeOf<ReturnType<typeof agent.turn>>().toEqualTypeOf<AgentTurn>();
    // @ts-expect-error -- an agent has a model
    expect(() => defineAgent({ name: "nobody" })).toThrow();
    const { session, close } = await open([agent]);
    await expect(agent.turn(session, "Is it?", { id: "t1" }).value()).rejects.toBeInstanceOf(TurnFailed);
    await close();
  });

  it("asks its next model where the first one failed for good", async () => {
    const agent = defineAgent({
      model: [
        scriptedModel([{ fails: [{ class: "auth" }] }], { model: "a" }),
        scriptedModel([{ fails: [{ class: "overloaded" }, { class: "overloaded" }], text: "From b." }], { model: "b" }),
      ],
    });
    const { session, close } = await open([agent]);
    expect(await agent.turn(session, "hi", { id: "t1" }).text()).toBe("From b.");
    await close();
  });

  it("hands the conversation over, in one turn", async () => {
    const billing = defineAgent({
      name: "billing",
      model: scriptedModel(({ prompt }) => `Billing was told: ${JSON.stringify(prompt.at(-1)?.content)}`, {
        model: "b",
      }),
    });
    const main = defineAgent({
      model: scriptedModel([{ calls: [{ tool: "handoff_to_billing", args: { task: "Refund 12." } }] }]),
      tools: [handoff({ to: billing })],
    });
    const { session, close } = await open([main]);
    const end = await main.turn(session, "I want my money back.", { id: "t1" }).end;
    expect(end).toMatchObject({ status: "finished", frame: "billing" });
    expect("text" in end ? end.text : "").toContain("Refund 12.");
    await close();
  });
});

describe("agents of a runtime", () => {
  const model = scriptedModel(["a"]);

  it("are refused where two things have one name, or one is not there", () => {
    const twice = () => agentHost([defineAgent({ model }), defineAgent({ model })]);
    expect(twice).toThrow("two agents are named main");
    const other = defineTool({ name: "look", execute: async () => 1 });
    const a = defineAgent({ model, tools: [look] });
    const b = defineAgent({ name: "b", model, tools: [other] });
    expect(() => agentHost([a, b])).toThrow("two tools are named look");
    expect(() => agentHost([a, defineAgent({ name: "c", model: scriptedModel(["b"]) })])).toThrow(
      /two models are named/,
    );
    const lost = defineAgent({ model, tools: [handoff({ to: "nobody" })] });
    expect(() => agentHost([lost])).toThrow("agent `main`: it hands over to `nobody`, which is not here");
    expect(() => defineAgent({ model, tools: [look, other] })).toThrow(Refused);
  });

  it("stand beside what the host has already", async () => {
    const agent = defineAgent({ model });
    const { tools, host } = agentHost([agent], {
      tools: [look],
      host: { agents: () => ({ routes: [{ provider: "x", model: "y" }] }) },
    });
    expect(tools).toEqual([look]);
    expect(await host.agents?.("other")).toEqual({ routes: [{ provider: "x", model: "y" }] });
    expect(host.models?.({ provider: "x", model: "y" })).toBeUndefined();
    expect(host.models?.({ provider: "scripted", model: "script" })).toBe(model.port);
  });
});
