/** `@pawl/flow/node`: the guarded `fetch` and the stdio servers that the providers use in Node. */
export { type GuardOptions, guardedFetch } from "@pawl/egress/node";
export { type StdioServer, stdioServers } from "./stdio.ts";
