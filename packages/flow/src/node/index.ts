/** `@pawl/flow/node`: what the providers need of Node. */
export { type GuardOptions, guardedFetch } from "@pawl/egress/node";
export { type StdioServer, stdioServers } from "./stdio.ts";
