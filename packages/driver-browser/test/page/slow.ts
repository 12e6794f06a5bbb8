/** Runs in the browser: opens a tab whose engine may be slow to come, or may not come at first. */
import { defineTool } from "@pawl/runtime";
import { openTab } from "../../src/index.ts";

const echo = defineTool({ name: "echo", durable: true, execute: (args) => args });

const outcomeOf = async (name: string): Promise<unknown> => {
  const runtime = await (await openTab({ name, tools: [echo] })).runtime();
  const session = await runtime.session("s");
  return (await session.request("r", [{ label: "c", tool: "echo", args: { by: "ann" } }]))[0]?.output.outcome;
};

/** Returns what a call in a new tab comes to, or why there is no tab; and how many milliseconds that took. */
const called = async (name: string): Promise<{ readonly came: unknown; readonly ms: number }> => {
  const start = performance.now();
  const came = await outcomeOf(name).catch((thrown: unknown) => String(thrown));
  return { came, ms: performance.now() - start };
};

Object.assign(globalThis, { suite: { called } });
