import { chatHandlers, chatTool, durableModel, durableTools } from "@pawl/ai-sdk";

console.log(typeof chatHandlers, typeof chatTool, typeof durableModel, typeof durableTools);
