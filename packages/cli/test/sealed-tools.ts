import { defineTool } from "@pawl/runtime";

/** Tools for `check-upgrade` over a sealed journal. */
export const tools = [defineTool({ name: "echo", durable: true, execute: (args) => args })];
