/** `@pawl/tools/node`: files on disk and web fetch, for Node. */
export { DiskFiles, type DiskLimits, type DiskOptions } from "./disk/disk-files.ts";
export { type WebLimits, type WebOptions, nodeWeb } from "./web/node-web.ts";
