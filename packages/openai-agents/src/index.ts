/** `@pawl/openai-agents`: the OpenAI Agents SDK on pawl. */
export { durableProvider } from "./provider.ts";
export { type AnyTool, durableTools } from "./tools.ts";
export { type AnyAgent, type RunOptions, runUntilDone } from "./run.ts";
export { DurableSession } from "./session.ts";
