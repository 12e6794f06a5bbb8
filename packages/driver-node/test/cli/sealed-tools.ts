import { defineTool } from "@pawl/runtime";

/** Of `check-upgrade` over a journal that is sealed. */
export const tools = [defineTool({ name: "echo", durable: true, execute: (args) => args })];
