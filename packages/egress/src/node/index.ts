/** `@pawl/egress/node`: a guarded request and a guarded `fetch` for Node. */
export { guardedFetch } from "./fetch.ts";
export { type GuardOptions, type GuardedRequest, guardedRequest } from "./request.ts";
