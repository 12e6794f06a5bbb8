import { DurableSession, durableProvider, durableTools, runUntilDone } from "@pawl/openai-agents";

console.log(typeof DurableSession, typeof durableProvider, typeof durableTools, typeof runUntilDone);
process.exit(); // The SDK keeps its process for its traces.
