/**
 * A process that runs a turn of an agent over a journal file, and writes what its reader is told to a file: a line for each
 * frame, with the reader's place. Another process goes on from the place that is there.
 */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { openRuntime } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { aiSdkModel } from "../src/ai-sdk/index.ts";
import { type TurnCursor, agentHost, defineAgent, turnCursorAfter } from "../src/index.ts";

const [folder = "", url = ""] = process.argv.slice(2);
const told = join(folder, "told.jsonl");

const look = defineTool({
  name: "look",
  durable: true,
  execute: async (_, ctx) => ctx.run("look", async () => "a wheel"),
});
const provider = createOpenAICompatible({ name: "local", baseURL: `${url}/v1` });
const agent = defineAgent({ model: aiSdkModel(provider("wheel-1")), tools: [look] });

/** The last place that is on disk; the line that a kill has cut in half does not count. */
const placeOnDisk = (): TurnCursor | undefined => {
  const lines = existsSync(told) ? readFileSync(told, "utf8").split("\n").slice(0, -1) : [];
  const last = lines.at(-1);
  return last === undefined ? { n: 1, attempt: 1, at: 0 } : (JSON.parse(last) as { place: TurnCursor }).place;
};

const { runtime, close } = openRuntime({
  file: join(folder, "journal.db"),
  ...agentHost([agent]),
  options: { modelPausesMs: Array.from({ length: 1000 }, () => 0) },
  turns: { checkpointChars: 16 },
});
const session = await runtime.session("s");
const from = placeOnDisk();
const turn = agent.turn(session, "What is it?", { id: "t1", keep: true, ...(from === undefined ? {} : { from }) });
for await (const frame of turn) appendFileSync(told, `${JSON.stringify({ frame, place: turnCursorAfter(frame) })}\n`);
console.log(JSON.stringify(await turn.end));
await close();
