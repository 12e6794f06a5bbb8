/** `@pawl/egress/node`: requests of Node that go nowhere but where they may. */
export { guardedFetch } from "./fetch.ts";
export { type GuardOptions, type GuardedRequest, guardedRequest } from "./request.ts";
