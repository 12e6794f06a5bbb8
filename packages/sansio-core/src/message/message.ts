/** Messages between scopes. Values stand encoded, as in events. */
import {
  type Codec,
  type Json,
  array,
  boolean,
  json,
  nullable,
  optional,
  record,
  string,
  tagged,
  text,
  u64,
} from "@pawl/tool-value";
import { SessionScope } from "../identity/scope.ts";
import {
  DescriptorCodec,
  ProcessEventAppendRequest,
  ProcessRegistration,
  ProcessStateCodec,
  TerminalState,
} from "./process.ts";
import { type TaskUpdate, TaskUpdateCodec } from "./task.ts";
import { type Amounts, AmountsCodec, type Limits, LimitsCodec, type Used, UsedCodec } from "../kernel/limit.ts";
import type { HandleDescriptor, ProcessState } from "../process/model.ts";
import type { WakeDelivery } from "../process/append.ts";

/** A request to a process. Each is known again by a key, so that asking twice is asking once. */
export type Asking =
  | { readonly type: "process.start"; readonly registration: ProcessRegistration; readonly hash: string }
  | {
      readonly type: "process.signal";
      readonly name: string;
      readonly signal_id: string;
      readonly payload: Json;
      /** The hash of `[event type, payload]`. */
      readonly payload_hash: string;
    }
  | {
      readonly type: "process.append";
      readonly request: ProcessEventAppendRequest;
      readonly payload_hash: string;
    }
  | { readonly type: "process.cancel"; readonly reason: string | null; readonly payload_hash: string }
  /** Tell me of the end, for this wait of mine. */
  | { readonly type: "process.await"; readonly wait: string };

/** A handle, as it is handed on. */
export interface GrantedHandle {
  readonly holder: SessionScope;
  readonly process: string;
  readonly descriptor: HandleDescriptor;
  readonly definition?: Json;
  readonly status: ProcessState;
}

/** News from a process to its peers, from a session to another, or from a session to the processes of its handles. */
export type Telling =
  | {
      readonly type: "process.ended";
      readonly process: string;
      /** The hash of its registration. */
      readonly hash: string;
      readonly state: TerminalState;
      /** The waits of the peer's that hear of it; without any the output is left out. */
      readonly waits: readonly string[];
      readonly output?: Json;
      /** For the scope that gave it a grant: all that the sub-agent has used. */
      readonly used?: Used;
    }
  /** A person has extended the budget of a sub-agent beyond its grant. */
  | { readonly type: "budget.raised"; readonly process: string; readonly add: Amounts }
  | { readonly type: "process.woke"; readonly wake: WakeDelivery }
  /** From a background run: an update of its task. */
  | { readonly type: "task.reported"; readonly task: string; readonly run: string; readonly update: TaskUpdate }
  | ({ readonly type: "handle.granted" } & GrantedHandle)
  /** A session has the handle of this process, or has it no more: whom its end is told. */
  | { readonly type: "handle.held"; readonly held: boolean }
  /** The session that says so is no more: it holds nothing, and is not woken. */
  | { readonly type: "session.deleted" };

/** The last word of a link. */
interface Closing {
  readonly type: "link.closed";
}

/** A request as it is sent: the scope of a body adds the grant of a sub-agent. */
export type Asked =
  | Exclude<Asking, { readonly type: "process.start" }>
  | (Extract<Asking, { readonly type: "process.start" }> & { readonly limits?: Limits });

export type Message = Asked | Telling | Closing;
export type MessageOf<T extends Message["type"]> = Extract<Message, { readonly type: T }>;
/** Messages that concerns send and take; the last word is the link's own. */
export type Said = Asked | Telling;

/** The receiver's answer to a message. `last`: nothing will come of more, so that the link may close. */
export type Outcome =
  | { readonly status: "accepted"; readonly value: Json; readonly last?: boolean }
  | { readonly status: "refused"; readonly code: string; readonly message: string; readonly last?: boolean };

// On the wire.

export const WakeDeliveryCodec: Codec<WakeDelivery> = record<WakeDelivery>("struct WakeDelivery", {
  target: SessionScope,
  process_id: string,
  sequence: u64,
  event_type: string,
  input: text,
  dedupe_key: string,
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
/** Messages that a body may send. */
export const AskingCodec: Codec<Asking> = tagged<Asking, "type">("Asking", "type", asking);

export const MessageCodec: Codec<Message> = tagged<Message, "type">("Message", "type", {
  ...asking,
  "process.start": { ...asking["process.start"], limits: optional(LimitsCodec) },
  "budget.raised": { process: string, add: AmountsCodec },
  "process.ended": {
    process: string,
    hash: string,
    state: TerminalState,
    waits: array(string),
    output: optional(json),
    used: optional(UsedCodec),
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
