/** A session that is recorded once, as its log, and replayed without its models. */
import { type Journal, type ToolDefinition, Runtime, defineTool, logText, memoryJournal } from "@pawl/runtime";
import { nodePlatform } from "@pawl/driver-node";
import { describe, expect, it } from "vitest";
import { type Agent, agentHost, defineAgent, recordedModels, scriptedModel } from "../src/index.ts";

const weather = (answer: string): ToolDefinition =>
  defineTool({
    name: "weather",
    description: "Tells the weather of a city.",
    readOnly: true,
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    execute: async ({ city }) => `${city}: ${answer}`,
  });

const script = scriptedModel(
  [
    {
      fails: [{ class: "overloaded", message: "busy" }],
      reasoning: "A city.",
      calls: [{ tool: "weather", args: { city: "Lviv" } }],
    },
    "It is sunny in Lviv.",
  ],
  { settings: { temperature: 0 } },
);

const agentOf = (instructions: string, answer = "sunny"): Agent =>
  defineAgent({ instructions, model: script, tools: [weather(answer)] });

const openOver = (journal: Journal, agent: Agent, models?: ReturnType<typeof recordedModels>): Runtime =>
  new Runtime({
    journal,
    platform: nodePlatform,
    instance: "here",
    roots: { newest: { kid: "k1", secret: new Uint8Array(32) } },
    ...agentHost([agent], models === undefined ? {} : { models }),
  });

/** Runs a session, and returns how its turn ended, and its log. */
const run = async (agent: Agent, models?: ReturnType<typeof recordedModels>) => {
  const journal = memoryJournal();
  const runtime = openOver(journal, agent, models);
  const session = await runtime.session("s");
  const end = await agent.turn(session, "How is the weather in Lviv?", { id: "t1" }).end;
  await runtime.close();
  return { end, log: ((await logText(journal, "session:s")) ?? []).join("") };
};

const eventsOf = (log: string): readonly string[] =>
  log
    .trim()
    .split("\n")
    .flatMap((line) => /"type":"(?<type>(?:model|turn|call)\.[a-z]+)"/.exec(line)?.groups?.["type"] ?? []);

describe("recorded models", () => {
  it("answer as the log says, failures included, and nothing else is asked", async () => {
    const recorded = await run(agentOf("Be short."));
    expect(recorded.end).toMatchObject({ status: "finished", text: "It is sunny in Lviv." });
    const replayed = await run(agentOf("Be short."), recordedModels(recorded.log));
    expect({ ...replayed.end, used: undefined }).toEqual({ ...recorded.end, used: undefined });
    expect(eventsOf(replayed.log)).toEqual(eventsOf(recorded.log));
    expect(eventsOf(replayed.log)).toContain("model.failed");
    const answers = await run(agentOf("Be short."), recordedModels(recorded.log, { answersOnly: true }));
    expect(answers.end).toMatchObject({ status: "finished", text: "It is sunny in Lviv." });
    expect(eventsOf(answers.log)).not.toContain("model.failed");
  });

  it("name the field of a prompt that differs from the recorded one", async () => {
    const { log } = await run(agentOf("Be short."));
    const { end } = await run(agentOf("Be long."), recordedModels(log));
    expect(end).toMatchObject({
      status: "failed",
      code: "model_invalid_request",
      message:
        'prompt_diverged: model call 1 of turn `t1`: message 0 (system), field `content`: expected "Be short.", found "Be long."',
    });
  });

  it("name a tool's result that differs, by message and part", async () => {
    const { log } = await run(agentOf("Be short."));
    const { end } = await run(agentOf("Be short.", "rainy"), recordedModels(log));
    expect("message" in end ? end.message : "").toBe(
      "prompt_diverged: model call 2 of turn `t1`: message 3 (tool), part 0, field `output.text`: " +
        'expected "Lviv: sunny", found "Lviv: rainy"',
    );
  });

  it("say which model calls the log has, where it has not the one that is asked", async () => {
    const { log } = await run(agentOf("Be short."));
    const agent = agentOf("Be short.");
    const runtime = openOver(memoryJournal(), agent, recordedModels(log));
    const session = await runtime.session("s");
    const end = await agent.turn(session, "How is the weather in Lviv?", { id: "other" }).end;
    expect("message" in end ? end.message : "").toContain(
      "not_recorded: the log has no answer of model call 1 of turn `other`; it has t1/1, t1/2",
    );
    await runtime.close();
  });
});
