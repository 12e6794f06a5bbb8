/** `@pawl/tools/node`: what the built-in tools need of Node. */
export { DiskFiles, type DiskLimits, type DiskOptions } from "./disk/disk-files.ts";
export { type WebLimits, type WebOptions, nodeWeb } from "./web/node-web.ts";
