/** `node examples/stream.ts`: a tool says a story word by word; one client reads along, and another one later, from the middle. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openRuntime } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";

const story = "A pawl lets a wheel turn one way only, so a step that was taken is never lost".split(" ");

const tellStory = defineTool({
  name: "tell_story",
  durable: true,
  execute: async (_, ctx) => {
    const words = await ctx.stream("story", async function* ({ signal }) {
      for (const word of story) {
        await wait(30, undefined, { signal });
        yield `${word} `;
      }
    });
    return words.join("").trim();
  },
});

const folder = mkdtempSync(join(tmpdir(), "pawl-stream-"));
const { runtime, close } = openRuntime({ file: join(folder, "journal.db"), tools: [tellStory] });
const session = await runtime.session("alice");
const call = "turn-1:call-1";
const called = session.request("turn-1", [{ label: "call-1", tool: "tell_story", args: {} }]);
while (session.state.calls.size === 0) await wait(1);

console.log("A client reads along:");
for await (const frame of session.stream(call, { name: "story" }))
  if (frame.type === "chunks") process.stdout.write(frame.chunks.join(""));

const [reply] = await called;
console.log("\n\nThe tool returned:");
console.log(reply?.output.outcome.payload);

console.log("\nAnother client comes later, and asks from word 10 on:");
for await (const frame of session.stream(call, { name: "story", from: 10 }))
  if (frame.type === "chunks") process.stdout.write(frame.chunks.join(""));
console.log();
await close();
rmSync(folder, { recursive: true });
