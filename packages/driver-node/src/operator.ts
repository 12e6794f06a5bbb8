/** `@pawl/driver-node/operator`: journals, keys and tokens for programs that operate hosts, such as the command line. */
export { isSocketUrl } from "./host/cors.ts";
export { type HostLimits } from "@pawl/wire/host";
export { type Claims, Right, type Secrets, checkSecrets, scopePrefixProblem, signToken } from "@pawl/wire/host";
export { diskAttachments } from "./journal/disk-blob.ts";
export { type SqliteJournal, sqliteJournal } from "./journal/journal.ts";
export { existingRootsOf, keepRoots } from "./journal/root-secret.ts";
export { aesCodec, fileKeys } from "./journal/seal.ts";
export { nodePlatform } from "./platform.ts";
export { JournalFileError } from "./sqlite/file-error.ts";
