/** `@pawl/egress`: the addresses that a tool's requests may not reach unless the host permits it. */
export { EgressRefused, isRefusedAddress, isRefusedName } from "./address.ts";
