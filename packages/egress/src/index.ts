/** `@pawl/egress`: which addresses a tool's requests may not reach, unless its host says so. */
export { isRefusedAddress, isRefusedName } from "./address.ts";
export { EgressRefused } from "./refused.ts";
