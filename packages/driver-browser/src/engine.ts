/** Everything that runs sessions: one file, which `load-engine.ts` imports when a tab is opened. */
export { Registry, Runtime, admittedOptions, entryOf } from "@pawl/runtime";
export { browserPlatform } from "./platform.ts";
export { follow } from "./tab/follow.ts";
export { takeOver } from "./tab/left-behind.ts";
