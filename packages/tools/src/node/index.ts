/** `@pawl/tools/node`: what the built-in tools need of Node. */
export { DiskFiles, type DiskLimits, type DiskOptions } from "./disk.ts";
export { type WebLimits, type WebOptions, nodeWeb } from "./web.ts";
