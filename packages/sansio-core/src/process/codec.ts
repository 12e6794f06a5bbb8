import { optional, string } from "@pawl/tool-value";
import { ProcessEventAppendRequest, ProcessRegistration } from "../message/process.ts";

/** What the runtime found out about an append: its payload's hash, and why it does not fit its schema. */
const appendFields = { request: ProcessEventAppendRequest, payload_hash: string, invalid: optional(string) };

export const processEvents = {
  "process.registered": { registration: ProcessRegistration, hash: string },
  "process.event_appended": appendFields,
} as const;
