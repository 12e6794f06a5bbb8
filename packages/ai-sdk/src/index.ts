/** `@pawl/ai-sdk`: the AI SDK on pawl. */
export { type Model, durableModel } from "./model.ts";
export { type Retrying } from "./retry.ts";
export { type Denied, type DurableToolsOptions, type Tools, durableTools } from "./tools.ts";
export { durableTelemetry } from "./telemetry.ts";
export { type AgentParts, type ChatOptions, type ChatTurn, chatTool } from "./chat-tool.ts";
export { type ChatRequest, type ChatHandlers, type ChatHost, chatHandlers } from "./handlers.ts";
