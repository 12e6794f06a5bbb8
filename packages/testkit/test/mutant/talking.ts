/** Turns, as mutants are hunted with: a model outside that counts what is paid, tools, controls, budgets and failures. */
import { type ToolDefinition, defineTool } from "@pawl/runtime";
import { type ModelAnswer, type ModelCall, ModelError } from "@pawl/runtime/driver";
import type { AnswerPart, PromptMessage, TurnEnd } from "@pawl/sansio-core/driver";
import { done, errorOutput, successOutput } from "@pawl/tool-value";
import { type Outside, type Scenario, type ScenarioHost, scriptedModel } from "../../src/index.ts";
import type { Hunt } from "./scenarios.ts";

const agents = (more: object = {}): NonNullable<Scenario["runtime"]> => {
  const main = { system: "Be short.", routes: [{ provider: "p", model: "m", ...more }] };
  return { host: { agents: (name) => (name === "main" ? main : undefined) }, options: { keepPartial: false } };
};

const saying = (text: string): ModelAnswer => ({
  pieces: text.split(/(?<= )/).map((word, i) => (i === 0 ? { b: 0, type: "text", text: word } : { b: 0, text: word })),
  finish: { reason: "stop" },
  usage: { input_tokens: 10, output_tokens: 5 },
});

const calling = (text: string, ...calls: readonly (readonly [tool: string, args: object])[]): ModelAnswer => {
  const parts = calls.map(([tool, args], i): AnswerPart => ({
    type: "tool-call",
    id: `c${i}`,
    tool,
    args: { ...args },
  }));
  const { pieces, usage } = saying(text);
  return {
    pieces: [...pieces, ...parts.map((part, i) => ({ b: i + 1, part }))],
    finish: { reason: "tool-calls" },
    usage,
  };
};

const keyOf = ({ key }: ModelCall) => /\/(?<turn>[^/:]+):model:(?<n>\d+)\.(?<f>\d+)$/.exec(key)?.groups ?? {};

const shownText = (message: PromptMessage | undefined): string => {
  if (message === undefined) return "";
  if (message.role === "system") return message.content;
  const texts = message.content.map((part) => {
    if (part.type === "text") return part.text;
    return part.type === "tool-result" && "text" in part.output ? part.output.text : part.type;
  });
  return texts.join(" and ");
};

/** Returns what the model says in each turn, by what it is shown last. */
const script = (call: ModelCall): ModelAnswer => {
  const last = call.prompt.at(-1);
  const { turn, f } = keyOf(call);
  const hasResults = last?.role === "tool";
  switch (turn) {
    case "looks":
      return hasResults
        ? saying(`I saw ${shownText(last)}.`)
        : calling("Let me look.", ["look", { at: "a" }], ["look", { at: "b" }]);
    case "fails":
      return hasResults ? saying(`It said ${shownText(last)}.`) : calling("", ["fail", {}]);
    case "ends":
      return calling("So it is.", ["end", { n: 1 }], ["end", { n: 2 }]);
    case "wraps":
      return call.toolChoice === "none" ? saying("That is all.") : calling("", ["look", { at: "d" }]);
    case "asks":
      return hasResults ? saying("Done.") : calling("", ["look", { at: "e" }]);
    case "tries":
      if (f === "0") throw new ModelError("overloaded", "busy");
      return saying("At last.");
    default:
      return saying(call.prompt.map((message) => `${message.role}:${shownText(message).length}`).join(" "));
  }
};

const tools = ({ effect, sleep }: Outside): readonly ToolDefinition[] => [
  defineTool({
    name: "look",
    durable: true,
    execute: async (args, ctx) => {
      const { at } = args as { readonly at: string };
      await ctx.run("look", async ({ key }) => (await sleep(at === "a" ? 50 : 10), await effect("look", { key }), at));
      return at;
    },
  }),
  defineTool({
    name: "fail",
    durable: true,
    execute: () => done({ ...errorOutput("no luck"), control: { type: "finish", value: "ended" } }),
  }),
  defineTool({
    name: "end",
    durable: true,
    execute: (args) => done({ ...successOutput(1), control: { type: "finish", value: { ...Object(args) } } }),
  }),
];

const ended = ({ used, ...end }: TurnEnd): unknown => {
  const { wall_ms: _, ...amounts } = used;
  return { ...end, used: amounts };
};

const turn = (host: ScenarioHost, id: string, options: object = {}): Promise<TurnEnd> =>
  host.within((session) => session.turn(id, `It ${id}.`, options), { as: id, request: id });

/** A failure has a pause of a second behind it, and then the model speaks for three. */
const isPatient = ({ used: { wall_ms: took = 0 } }: TurnEnd): boolean => took >= 4000;

const parked = async (host: ScenarioHost): Promise<void> => {
  const isParked = (): Promise<boolean> =>
    host.within(async ({ state }) => state.conversation.running?.phase.type === "parked", { as: "look" });
  while (!(await isParked())) await host.sleep(500);
};

const used = (model_calls: number) => ({
  model_calls,
  input_tokens: 10 * model_calls,
  output_tokens: 5 * model_calls,
  total_tokens: 15 * model_calls,
  unpriced: model_calls,
});
const finished = (id: string, model_calls: number, more: object) => ({
  turn: id,
  frame: "main",
  status: "finished",
  used: used(model_calls),
  ...more,
});

/** A conversation with the scripted model: what its host does, and what has to come of it. */
const conversation = (host: Scenario["host"], expected: unknown, more: object = {}): Hunt => ({
  scenario: {
    tools,
    models: (outside) => {
      const model = scriptedModel(outside, script, {
        effect: (call) => `answer ${keyOf(call)["turn"]}`,
        pieceMs: 1500,
      });
      return () => model;
    },
    runtime: agents(more),
    host,
  },
  expected,
});

// oxlint-disable-next-line unicorn/no-thenable -- what follows when it is reached
const limitOf = (then: "ask" | "wrap_up") => ({ limits: { model_calls: { limit: 1, then } } }) as const;

/** The roles of the last prompt, with the lengths of what they say. */
const shown = "system:9 user:9 assistant:40 tool:7 assistant:14 user:9";

const looking = conversation(
  async (host) => [ended(await turn(host, "looks")), ended(await turn(host, "tells"))],
  [finished("looks", 2, { text: "I saw a and b." }), finished("tells", 1, { text: shown })],
);

const controlling = conversation(
  async (host) => [ended(await turn(host, "fails")), ended(await turn(host, "ends"))],
  [
    finished("fails", 2, { text: "It said [Tool execution failed]\nno luck." }),
    finished("ends", 1, { text: "So it is.", value: { n: 1 }, by: "m1.0" }),
  ],
);

const limiting = conversation(
  async (host) => {
    const wrapped = await turn(host, "wraps", limitOf("wrap_up"));
    const asking = turn(host, "asks", limitOf("ask"));
    await parked(host);
    const add = { turn: { model_calls: 1 } };
    await host.once((session) => session.decideBudget({ ask: 1, decision: "extend", add, by: "ada" }), {
      as: "extend",
    });
    return [ended(wrapped), ended(await asking)];
  },
  [finished("wraps", 2, { text: "That is all.", limited: true }), finished("asks", 2, { text: "Done." })],
);

const failing = conversation(
  async (host) => {
    const tried = await turn(host, "tries");
    return [ended(tried), isPatient(tried)];
  },
  [finished("tries", 1, { text: "At last." }), true],
);

const story = Array.from({ length: 12 }, (_, i) => `word${i} `).join("");

const goesOn = ({ prefix = "" }: ModelCall): ModelAnswer =>
  saying(story.startsWith(prefix) ? story.slice(prefix.length) : "I am lost.");

/** A model that goes on from its own text, as far as that is on record. */
const continuing: Hunt = {
  scenario: {
    tools: () => [],
    models: (outside) => {
      const model = scriptedModel(outside, goesOn, { pieceMs: 2000 });
      return () => model;
    },
    runtime: agents({ continue: true }),
    claims: { answer: "at_least_once" },
    host: async (host) => ended(await turn(host, "tells")),
  },
  expected: finished("tells", 1, { text: story }),
};

export const talking = { looking, controlling, limiting, failing, continuing };
