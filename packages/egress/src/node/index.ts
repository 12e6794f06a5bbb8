/** `@pawl/egress/node`: a guarded request and a guarded `fetch` for Node. */
export { type GuardOptions, type GuardedRequest, guardedFetch, guardedRequest } from "./request.ts";
