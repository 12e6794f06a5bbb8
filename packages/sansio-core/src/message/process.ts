/** Processes on the wire, and how tools and models name them. */
import {
  type Codec,
  type Json,
  type JsonObject,
  array,
  defaulted,
  external,
  FailureClass,
  json,
  oneOf,
  optional,
  ProcessValueSelector,
  record,
  string,
  tagged,
  text,
  ToolControl,
  toolValue,
  u64,
  isObject,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { PreparedToolCall } from "../identity/replay-key.ts";
import { isBlank, SessionScope } from "../identity/scope.ts";
import { CausalRef, RuntimeInvocation, RuntimeReplay } from "./invocation.ts";
import type * as m from "../process/model.ts";

const kept = (): boolean => false;
const jsonOrNull = defaulted<Json>(json, null, kept);

export type ProcessInput = m.ProcessInput;
export const ProcessInput: Codec<m.ProcessInput> = tagged<m.ProcessInput, "type">("ProcessInput", "type", {
  tool_call: { call: PreparedToolCall },
  engine: { kind: string, payload: jsonOrNull },
  session_turn: { create_request: json, turn_input: json, output_contract: json },
  external: { metadata: jsonOrNull },
});

export type ProcessIdentity = m.ProcessIdentity;
export const ProcessIdentity: Codec<m.ProcessIdentity> = record<m.ProcessIdentity>("struct ProcessIdentity", {
  kind: string,
  label: optional(string),
  definition: optional(json),
});

export type ProcessOriginator = m.ProcessOriginator;
export const ProcessOriginator: Codec<m.ProcessOriginator> = tagged<m.ProcessOriginator, "type">(
  "ProcessOriginator",
  "type",
  { host: {}, session: { scope: SessionScope } },
);

export type ProcessProvenance = m.ProcessProvenance;
export const ProcessProvenance: Codec<m.ProcessProvenance> = record<m.ProcessProvenance>("struct ProcessProvenance", {
  originator: ProcessOriginator,
  caused_by: optional(CausalRef),
});

export type ProcessAwaitOutput = m.ProcessAwaitOutput;
export const ProcessAwaitOutput: Codec<m.ProcessAwaitOutput> = tagged<m.ProcessAwaitOutput, "type">(
  "ProcessAwaitOutput",
  "type",
  {
    success: { value: toolValue, control: optional(ToolControl) },
    failure: {
      class: FailureClass,
      code: string,
      message: text,
      raw: optional(toolValue),
      control: optional(ToolControl),
    },
    cancelled: { message: text, raw: optional(toolValue), control: optional(ToolControl) },
  },
);

export type TerminalState = m.TerminalState;
export const TerminalState: Codec<m.TerminalState> = oneOf("a terminal state", "completed", "failed", "cancelled");

const WakeDedupe: Codec<m.WakeDedupe> = external<m.WakeDedupe>("WakeDedupe", ["event_identity"], {
  selector: ProcessValueSelector,
  const: string,
});

const EventTypeSemantics: Codec<m.EventTypeSemantics> = record<m.EventTypeSemantics>("struct EventTypeSemantics", {
  terminal: optional(
    record<m.TerminalSpec>("struct TerminalSpec", {
      state: TerminalState,
      await_output: optional(ProcessValueSelector),
    }),
  ),
  wake: optional(
    record<m.WakeSpec>("struct WakeSpec", {
      when: optional(ProcessValueSelector),
      input: ProcessValueSelector,
      dedupe_key: defaulted<m.WakeDedupe>(WakeDedupe, "event_identity", kept),
    }),
  ),
});

export type ProcessEventType = m.ProcessEventType;
export const ProcessEventType: Codec<m.ProcessEventType> = record<m.ProcessEventType>("struct ProcessEventType", {
  name: string,
  payload_schema: record<m.PayloadSchema>("struct PayloadSchema", { schema: json }),
  semantics: defaulted<m.EventTypeSemantics>(EventTypeSemantics, {}, kept),
});

const eventTypes = defaulted<readonly m.ProcessEventType[]>(array(ProcessEventType), [], kept);

const registered = {
  input: ProcessInput,
  identity: ProcessIdentity,
  event_types: eventTypes,
  provenance: ProcessProvenance,
  env_ref: optional(string),
  wake_target: optional(SessionScope),
};

export type ProcessRegistration = m.ProcessRegistration;
export const ProcessRegistration: Codec<m.ProcessRegistration> = record<m.ProcessRegistration>(
  "struct ProcessRegistration",
  { id: string, ...registered },
);

export const ProcessStateCodec: Codec<m.ProcessState> = oneOf(
  "a process state",
  "running",
  "completed",
  "failed",
  "cancelled",
);

export type ProcessStatus = m.ProcessStatus;
export const ProcessStatus: Codec<m.ProcessStatus> = tagged<m.ProcessStatus, "state">("ProcessStatus", "state", {
  running: {},
  completed: { await_output: ProcessAwaitOutput },
  failed: { await_output: ProcessAwaitOutput },
  cancelled: { await_output: ProcessAwaitOutput },
});

export type ProcessWait = m.ProcessWait;
export const ProcessWait: Codec<m.ProcessWait> = record<m.ProcessWait>("struct ProcessWait", {
  kind: tagged<m.SignalWait, "kind">("SignalWait", "kind", {
    signal: { name: string, event_type: string, key: string, ordinal: u64 },
  }),
  since_ms: u64,
});

export type ExternalRef = m.ExternalRef;
export const ExternalRef: Codec<m.ExternalRef> = record<m.ExternalRef>("struct ExternalRef", {
  backend: string,
  id: string,
  metadata: optional(json),
});

export type ProcessRecord = m.ProcessRecord;
export const ProcessRecord: Codec<m.ProcessRecord> = record<m.ProcessRecord>("struct ProcessRecord", {
  id: string,
  registration_hash: string,
  ...registered,
  created_at_ms: u64,
  updated_at_ms: u64,
  external_ref: optional(ExternalRef),
  wait: optional(ProcessWait),
  status: ProcessStatus,
});

const ProcessEventSemantics: Codec<m.ProcessEventSemantics> = record<m.ProcessEventSemantics>(
  "struct ProcessEventSemantics",
  {
    terminal: optional(
      record<NonNullable<m.ProcessEventSemantics["terminal"]>>("struct TerminalSemantics", {
        state: TerminalState,
        await_output: ProcessAwaitOutput,
      }),
    ),
    wake: optional(
      record<NonNullable<m.ProcessEventSemantics["wake"]>>("struct WakeSemantics", {
        input: text,
        dedupe_key: string,
      }),
    ),
  },
);

export type ProcessEvent = m.ProcessEvent;
export const ProcessEvent: Codec<m.ProcessEvent> = record<m.ProcessEvent>("struct ProcessEvent", {
  process_id: string,
  sequence: u64,
  event_type: string,
  payload: json,
  invocation: RuntimeInvocation,
  semantics: defaulted<m.ProcessEventSemantics>(ProcessEventSemantics, {}, kept),
  occurred_at: record<m.SystemTime>("struct SystemTime", { secs_since_epoch: u64, nanos_since_epoch: u64 }),
});

export type ProcessEventAppendRequest = m.ProcessEventAppendRequest;
export const ProcessEventAppendRequest: Codec<m.ProcessEventAppendRequest> = record<m.ProcessEventAppendRequest>(
  "struct ProcessEventAppendRequest",
  {
    event_type: string,
    payload: json,
    replay: optional(RuntimeReplay),
    wake_target_scope: optional(SessionScope),
  },
);

export const DescriptorCodec: Codec<m.HandleDescriptor> = record<m.HandleDescriptor>("struct HandleDescriptor", {
  kind: optional(string),
  label: optional(string),
});

export type ProcessHandleSummary = m.ProcessHandleSummary;
export const ProcessHandleSummary: Codec<m.ProcessHandleSummary> = record<m.ProcessHandleSummary>(
  "struct ProcessHandleSummary",
  {
    __handle__: oneOf("a handle kind", "process"),
    id: string,
    process_id: string,
    descriptor: DescriptorCodec,
    definition: optional(json),
    status: ProcessStateCodec,
  },
);

// Handles: how tools and models name a process.

/** The value that stands for a process. */
export const handleValue = (processId: string): JsonObject => ({ __handle__: "process", id: processId });

const field = (handle: Json, key: string): Json | undefined =>
  isObject(handle) && Object.hasOwn(handle, key) ? handle[key] : undefined;

/** The process that a handle names, or what is wrong with the handle; keys beyond the two are nobody's business. */
export const parseHandle = (handle: Json): E.Either<string, string> => {
  const kind = field(handle, "__handle__");
  if (typeof kind !== "string") return E.left("Invalid process handle: missing `__handle__`");
  if (kind !== "process") return E.left(`Invalid process handle kind: ${kind}`);
  const id = field(handle, "id");
  return typeof id === "string" && !isBlank(id) ? E.right(id) : E.left("Invalid process handle: missing `id`");
};

/** Words the refusal of a handle that its holder may not use, or that nobody granted. */
export const notVisible = (processId: string): string =>
  `process handle \`${processId}\` is not live or visible in this session`;
/** Words the refusal of a session that has no handle on a process. */
export const notGranted = (processId: string, sessionId: string): string =>
  `process handle \`${processId}\` is not granted to session \`${sessionId}\``;

/** How a process is described to whoever starts it. */
export const descriptorOf = ({ identity: { kind, label } }: Pick<ProcessRecord, "identity">): m.HandleDescriptor =>
  label === undefined ? { kind } : { kind, label };
