/** `@pawl/tools`: the built-in tools, and the narration of calls. */
export {
  type BuiltinTool,
  type Deferrable,
  type ToolContext,
  type ToolPolicy,
  argumentsOf,
  definitionOf,
  fullParameters,
  policyOf,
  readDefinition,
} from "./tool.ts";
export { BuiltinRegistry, type ToolCall, defaultRegistry, defaultTools } from "./registry.ts";
export { type FilesOf, builtinTool } from "./session/builtin.ts";
export { type Activation, type Capability, activate } from "./session/capability.ts";
export { type SessionHostOptions, sessionHost } from "./session/host.ts";
export { type SessionToolOptions, type SessionTools, capabilitiesOf, sessionTools } from "./session/session-tools.ts";
export { scheduleJson } from "./session/schedule.ts";
export { taskJson } from "./session/task.ts";
export { type ProgressReport, readReport, reportText, withReporting } from "./progress.ts";
export { type Download, type WebFetchOptions, type WebPort, type WebRequest, readRequest, webFetch } from "./web.ts";
export { firesAfter, intervalOf, nextFire, planOf } from "./cron.ts";
export { type Narrated, type Phase, headline, narrate, safeArgument, shownUrl } from "./narration.ts";
export { MemoryFiles } from "./file/memory.ts";
export { canonicalPath, displayPath } from "./file/path.ts";
export { type Entry, FileError, type FileStore, type Match, type StoredFile, type WriteOptions } from "./file/store.ts";
export { type Edit, planEdits, readEdits } from "./file/plan.ts";
export { contentHash } from "./file/bytes.ts";
export {
  type Spawn,
  type SpawnPlace,
  type SpawnSchedule,
  type Target,
  readSchedule,
  spawnName,
  titleOf,
  validateSpawn,
} from "./spawn/validate.ts";
export { monitorDescription, probeResultText, scheduledText, startedText } from "./spawn/text.ts";
export { isCandidate, leaseSeconds, reap } from "./spawn/reattach.ts";
