import { Runtime, defineTool, memoryJournal } from "@pawl/runtime";
import type { Platform } from "@pawl/runtime/driver";
import { formatToolOutput, hashText } from "@pawl/tool-value";

const platform: Platform = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  nextTurn: (then) => void setTimeout(then, 0),
  hashText,
  later: (ms, then) => {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};
const greet = defineTool<{ readonly name: string }>({
  name: "greet",
  execute: ({ name }, ctx) => ctx.run("look", () => `hello, ${name}`, { input: { name } }),
});
const runtime = new Runtime({
  journal: memoryJournal({ now: platform.now }),
  platform,
  tools: [greet],
  instance: "here",
  roots: { newest: { kid: "1", secret: crypto.getRandomValues(new Uint8Array(32)) } },
});
const session = await runtime.session("s");
const [reply] = await session.request("r1", [{ label: "c1", tool: "greet", args: { name: "Lviv" } }]);
console.log(reply === undefined ? "no reply" : formatToolOutput(reply.output));
await runtime.close();
