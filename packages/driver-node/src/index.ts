/** `@pawl/driver-node`: pawl in one Node process. */
export { type OpenOptions, type OpenRuntime, openRuntime } from "./open.ts";
export { type SqliteOptions, type SqliteJournal, sqliteJournal } from "./journal/journal.ts";
export { type DiskBlobsOptions, diskBlobs, diskAttachments } from "./journal/disk-blob.ts";
export { aesCodec, type ScopeKeys, fileKeys, memoryKeys } from "./journal/seal.ts";
export { nodePlatform } from "./platform.ts";
export { inWorker } from "./isolate/in-worker.ts";
export type { Isolated } from "./isolate/option.ts";
export type { IsolatedContext } from "./isolate/serve-body.ts";
export { type FileOptions } from "./sqlite/connection.ts";
export { JournalFileError, type JournalFileCode } from "./sqlite/file-error.ts";
export { type Host, type HostOptions, openHost } from "./host/host.ts";
export { type HostDefinition, defineHost } from "./host/define.ts";
export { nodeListener } from "./host/web-request.ts";
export { HostFlows, type HostFlowsOptions } from "./host/flow-host.ts";
export {
  type Claims,
  type HostLimits,
  Receivers,
  type Right,
  type Secrets,
  claimsOf,
  defaultHostLimits,
  signToken,
} from "@pawl/wire/host";
export { logTo } from "./telemetry/log.ts";
export { tracedJournal } from "./telemetry/commit.ts";
export { spansOf } from "./telemetry/spans.ts";
