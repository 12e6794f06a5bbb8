/**
 * `node examples/agent.ts [folder]`: an agent in a terminal. It looks for a train, asks you before it books it, and says what it
 * does word by word. Kill it in mid-word and start it with the same folder: it goes on.
 *
 * Without a key its model is a script. With an endpoint that speaks as OpenAI's does it is that:
 * `OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_MODEL=qwen3 node examples/agent.ts`, and `OPENAI_API_KEY` where one is needed.
 */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type AgentModel, agentHost, defineAgent, scriptedModel } from "@pawl/agent";
import { aiSdkModel } from "@pawl/agent/ai-sdk";
import { openRuntime } from "@pawl/driver-node";
import { type Session, defineTool } from "@pawl/runtime";
import type { Json } from "@pawl/tool-value";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { setTimeout as pause } from "node:timers/promises";

const findTrains = defineTool({
  name: "find_trains",
  description: "Finds the trains of tomorrow to a city.",
  readOnly: true,
  inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  execute: async ({ to }) => [
    { train: "IC 716", to, departs: "9:10", price: 34 },
    { train: "EC 43", to, departs: "13:25", price: 51 },
  ],
});

const bookSeat = defineTool({
  name: "book_seat",
  description: "Books a seat on a train. A person has to agree.",
  durable: true,
  needsApproval: true,
  inputSchema: {
    type: "object",
    properties: { train: { type: "string" }, seats: { type: "integer" } },
    required: ["train", "seats"],
  },
  execute: ({ train, seats }, ctx) => ctx.run("book", ({ key }) => ({ train, seats, booking: key.slice(-6) })),
});

const script = scriptedModel(
  [
    { text: "Let me look for trains to Lviv. ", calls: [{ tool: "find_trains", args: { to: "Lviv" } }] },
    {
      text: "The IC 716 at 9:10 costs 34. I book it, if you agree. ",
      calls: [{ tool: "book_seat", args: { train: "IC 716", seats: 1 } }],
    },
    "Your seat is booked: you leave at 9:10, and have the whole day in Lviv.",
  ],
  { wordMs: 60 },
);

/** The model of the endpoint that the environment names, or the script. */
const modelOf = ({
  OPENAI_BASE_URL: baseURL,
  OPENAI_MODEL: name,
  OPENAI_API_KEY: apiKey,
}: NodeJS.ProcessEnv): AgentModel => {
  if (baseURL === undefined || name === undefined) return script;
  const provider = createOpenAICompatible({ name: "endpoint", baseURL, ...(apiKey === undefined ? {} : { apiKey }) });
  return aiSdkModel(provider(name));
};

const [folder = mkdtempSync(join(tmpdir(), "pawl-agent-"))] = process.argv.slice(2);
const agent = defineAgent({
  instructions: "You book trains. Look for one first, then book it. Be short.",
  model: modelOf(process.env),
  tools: [findTrains, bookSeat],
  limits: { modelCalls: 10 },
});
const { runtime, close } = openRuntime({ file: join(folder, "journal.db"), ...agentHost([agent]) });

/** Puts each call that needs approval to the person at the terminal. Where nobody sits there, all are approved. */
const decide = async (session: Session, isOver: () => boolean): Promise<void> => {
  for (; !isOver(); await pause(50))
    for (const asked of await session.approvals()) {
      const question = `\n  ${asked.tool} ${JSON.stringify(asked.args)}: yes, no, or other arguments as JSON? `;
      const answer = process.stdin.isTTY ? await ask(question) : "yes";
      if (answer === "no") await asked.reject({ by: "you", reason: "not this one" });
      else await asked.approve({ by: "you", ...(answer.startsWith("{") ? { args: JSON.parse(answer) as Json } : {}) });
      console.log(`\n  ${asked.tool}: ${answer}`);
    }
};

const ask = async (question: string): Promise<string> => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = (await terminal.question(question)).trim();
  terminal.close();
  return answer;
};

console.log(`The journal is in ${folder}.\n`);
const session = await runtime.session("alice");
const turn = agent.turn(session, "I want to go to Lviv tomorrow.", { id: "turn-1", keep: true });
let isOver = false;
const deciding = decide(session, () => isOver);
for await (const said of turn) {
  if (said.type === "text" && said.of === undefined) process.stdout.write(said.text);
  if (said.type === "reset") process.stdout.write("\n(it begins this answer again)\n");
  if (said.type === "part" && said.part.type === "tool-call") process.stdout.write(`\n  calls ${said.part.tool}\n`);
}
isOver = true;
await deciding;
const end = await turn.end;
console.log(
  `\n\n${end.status}, after ${end.used.model_calls ?? 0} model calls and ${end.used.total_tokens ?? 0} tokens`,
);
await close();
