/** Messages on the wire. */
import {
  type Codec,
  array,
  boolean,
  json,
  nullable,
  optional,
  record,
  string,
  text,
  tagged,
  u64,
} from "@pawl/tool-value";
import { TaskUpdateCodec } from "./task.ts";
import { SessionScope } from "../identity/session-scope.ts";
import { ProcessEventAppendRequest, ProcessRegistration, ProcessStateCodec, TerminalState } from "./process.ts";
import type { HandleDescriptor } from "../process/model.ts";
import type { WakeDelivery } from "../process/wake.ts";
import type { Asking, Message, Outcome } from "./message.ts";

export const WakeDeliveryCodec: Codec<WakeDelivery> = record<WakeDelivery>("struct WakeDelivery", {
  target: SessionScope,
  process_id: string,
  sequence: u64,
  event_type: string,
  input: text,
  dedupe_key: string,
});

export const DescriptorCodec: Codec<HandleDescriptor> = record<HandleDescriptor>("struct HandleDescriptor", {
  kind: optional(string),
  label: optional(string),
});

export const grantedFields = {
  holder: SessionScope,
  process: string,
  descriptor: DescriptorCodec,
  definition: optional(json),
  status: ProcessStateCodec,
};

const asking = {
  "process.start": { registration: ProcessRegistration, hash: string },
  "process.signal": { name: string, signal_id: string, payload: json, payload_hash: string },
  "process.append": { request: ProcessEventAppendRequest, payload_hash: string },
  "process.cancel": { reason: nullable(text), payload_hash: string },
  "process.await": { wait: string },
};
/** What a body may send. */
export const AskingCodec: Codec<Asking> = tagged<Asking, "type">("Asking", "type", asking);

export const MessageCodec: Codec<Message> = tagged<Message, "type">("Message", "type", {
  ...asking,
  "process.ended": {
    process: string,
    hash: string,
    state: TerminalState,
    waits: array(string),
    output: optional(json),
  },
  "task.reported": { task: string, run: string, update: TaskUpdateCodec },
  "process.woke": { wake: WakeDeliveryCodec },
  "handle.granted": grantedFields,
  "handle.held": { held: boolean },
  "session.deleted": {},
  "link.closed": {},
});

export const OutcomeCodec: Codec<Outcome> = tagged<Outcome, "status">("Outcome", "status", {
  accepted: { value: json, last: optional(boolean) },
  refused: { code: string, message: text, last: optional(boolean) },
});
