/**
 * A tool that streams, in a process that a test kills: `node stream-process.ts <file> <how many words> <place of the client>`.
 * It prints each frame that a client reads along, live from its cursor and recorded from its number.
 */
import { setTimeout as wait } from "node:timers/promises";
import { defineTool } from "@pawl/runtime";
import type { StreamCursor } from "@pawl/runtime/driver";
import { openRuntime } from "../../src/index.ts";

const [file = "", count = "0", place = "{}"] = process.argv.slice(2);
const { cursor, recorded = 0 } = JSON.parse(place) as { readonly cursor?: StreamCursor; readonly recorded?: number };

const words = async function* ({ attempt, recorded: said }: { attempt: number; recorded: readonly string[] }) {
  for (let n = said.length; n < Number(count); n++) {
    await wait(10);
    yield `${n} of ${attempt}`;
  }
};

const talk = defineTool({
  name: "talk",
  durable: true,
  execute: async (_, ctx) => {
    const heard: string[] = [];
    for await (const word of ctx.stream("words", words, { resume: true })) heard.push(word);
    return heard;
  },
});

const options = { crashPausesMs: [0], maxCrashes: 10_000 };
const { runtime, close } = openRuntime({ file, tools: [talk], options });
const session = await runtime.session("alice");
const told = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const called = session.request("turn-1", [{ label: "call-1", tool: "talk", args: {} }], { keep: true });
while (!session.state.calls.at("turn-1:call-1")) await wait(1);

const read = async (who: "live" | "recorded", from: StreamCursor | number | undefined): Promise<void> => {
  for await (const frame of session.stream("turn-1:call-1", { name: "words", ...(from === undefined ? {} : { from }) }))
    told({ who, frame });
};
await Promise.all([read("live", cursor), read("recorded", recorded)]);
const [reply] = await called;
told({ who: "body", heard: reply?.output.outcome.payload });
await close();
