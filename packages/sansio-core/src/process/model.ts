/**
 * A process: work that outlives the call that started it. It has declared event types, a log of its own, and one end.
 *
 *   registered ─▶ running ─────────────▶ completed | failed | cancelled
 *                 │     ▲                (by the first event whose type is terminal)
 *                 ▼     │
 *               [waits for a signal]     a facet of running: there is no paused process
 *
 * Events are appended in one sequence, from 1 without a gap. A replay key makes an append idempotent for ever: so the
 * row keeps, of each keyed event, what it was and where it stands; what it said is read from the log. Events that end
 * nothing are still taken after the end.
 *
 * Invariants
 *   P1  the id is no blank, and the input kind has the environment it needs, or none
 *   P2  event types have distinct, non-blank names; the core types are among them
 *   P3  replay entries name distinct places of the log
 *   P4  signals are counted by declared types, and there are no more of them than events
 *   P5  an ended process has an event that ended it, and waits for nothing
 *   P6  a wait names a declared signal, counts from 1, and has its key from both
 *   P7  nothing was updated before it was made
 *   P8  its tools are asked for, and an engine works, only while it runs; its call or turn is live as long as its run says
 *   P9  peers are distinct scopes, and are kept until the end is told; to each there is a wait once
 *   P10 a process lives in the scope of its name
 *   P11 an end is the only one: it never changes
 *   P12 a session that is to be woken no more was to be woken, and is not a second time
 */
import type { FailureClass, Json, ProcessValueSelector, ToolControl, ToolValue } from "@pawl/tool-value";
import type { PersistentMap } from "../kernel/persistent-map.ts";
import type { PreparedToolCall } from "../identity/replay-key.ts";
import type { SessionScope } from "../identity/scope.ts";
import type { CausalRef, RuntimeInvocation, RuntimeReplay } from "../message/invocation.ts";

/** The work of a process. */
export type ProcessInput =
  | { readonly type: "tool_call"; readonly call: PreparedToolCall }
  | { readonly type: "engine"; readonly kind: string; readonly payload: Json }
  | {
      readonly type: "session_turn";
      readonly create_request: Json;
      readonly turn_input: Json;
      readonly output_contract: Json;
    }
  | { readonly type: "external"; readonly metadata: Json };

/** How a process is shown. */
export interface ProcessIdentity {
  readonly kind: string;
  readonly label?: string;
  readonly definition?: Json;
}

export type ProcessOriginator = { readonly type: "host" } | { readonly type: "session"; readonly scope: SessionScope };

export interface ProcessProvenance {
  readonly originator: ProcessOriginator;
  readonly caused_by?: CausalRef;
}

export type TerminalState = "completed" | "failed" | "cancelled";

/** The end of a process, as its awaiters are told. Retries are not part of it: a process is not tried again. */
export type ProcessAwaitOutput =
  | { readonly type: "success"; readonly value: ToolValue; readonly control?: ToolControl }
  | {
      readonly type: "failure";
      readonly class: FailureClass;
      readonly code: string;
      readonly message: string;
      readonly raw?: ToolValue;
      readonly control?: ToolControl;
    }
  | {
      readonly type: "cancelled";
      readonly message: string;
      readonly raw?: ToolValue;
      readonly control?: ToolControl;
    };

/** Which part of a wake makes it one that was seen before. */
export type WakeDedupe = "event_identity" | { readonly selector: ProcessValueSelector } | { readonly const: string };

export interface TerminalSpec {
  readonly state: TerminalState;
  readonly await_output?: ProcessValueSelector;
}
export interface WakeSpec {
  readonly when?: ProcessValueSelector;
  readonly input: ProcessValueSelector;
  readonly dedupe_key: WakeDedupe;
}
/** The meaning of an event type, beyond being recorded. */
export interface EventTypeSemantics {
  readonly terminal?: TerminalSpec;
  readonly wake?: WakeSpec;
}

export interface PayloadSchema {
  readonly schema: Json;
}
export interface ProcessEventType {
  readonly name: string;
  readonly payload_schema: PayloadSchema;
  readonly semantics: EventTypeSemantics;
}

export interface ProcessRegistration {
  readonly id: string;
  readonly input: ProcessInput;
  readonly identity: ProcessIdentity;
  readonly event_types: readonly ProcessEventType[];
  readonly provenance: ProcessProvenance;
  /** The captured environment: `process-env:sha256:{hash}`. */
  readonly env_ref?: string;
  readonly wake_target?: SessionScope;
}

export type ProcessStatus =
  | { readonly state: "running" }
  | { readonly state: "completed"; readonly await_output: ProcessAwaitOutput }
  | { readonly state: "failed"; readonly await_output: ProcessAwaitOutput }
  | { readonly state: "cancelled"; readonly await_output: ProcessAwaitOutput };
export type ProcessState = ProcessStatus["state"];

export interface SignalWait {
  readonly kind: "signal";
  readonly name: string;
  readonly event_type: string;
  readonly key: string;
  readonly ordinal: number;
}
export interface ProcessWait {
  readonly kind: SignalWait;
  readonly since_ms: number;
}

/** Where the work is, if a backend outside does it. */
export interface ExternalRef {
  readonly backend: string;
  readonly id: string;
  readonly metadata?: Json;
}

/** A process as it is read. */
export interface ProcessRecord {
  readonly id: string;
  readonly registration_hash: string;
  readonly input: ProcessInput;
  readonly identity: ProcessIdentity;
  readonly event_types: readonly ProcessEventType[];
  readonly provenance: ProcessProvenance;
  readonly env_ref?: string;
  readonly wake_target?: SessionScope;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly external_ref?: ExternalRef;
  readonly wait?: ProcessWait;
  readonly status: ProcessStatus;
}

/** The meaning that an event had when it was appended. */
export interface ProcessEventSemantics {
  readonly terminal?: { readonly state: TerminalState; readonly await_output: ProcessAwaitOutput };
  readonly wake?: { readonly input: string; readonly dedupe_key: string };
}

export interface SystemTime {
  readonly secs_since_epoch: number;
  readonly nanos_since_epoch: number;
}

export interface ProcessEvent {
  readonly process_id: string;
  readonly sequence: number;
  readonly event_type: string;
  readonly payload: Json;
  readonly invocation: RuntimeInvocation;
  readonly semantics: ProcessEventSemantics;
  readonly occurred_at: SystemTime;
}

export interface ProcessEventAppendRequest {
  readonly event_type: string;
  readonly payload: Json;
  readonly replay?: RuntimeReplay;
  readonly wake_target_scope?: SessionScope;
}

/** In the place of a payload's hash: the core made the event, and makes no hashes; its end says what it was. */
export const coreMade = "";

/** A keyed event, as the row remembers it. */
export interface AppendedEvent {
  readonly hash: string;
  readonly seq: number;
  readonly at: number;
  /** The wait that a signal resolved. */
  readonly ordinal?: number;
}

/**
 * Says what the scope of a process runs for it: its tools are asked for, its call is live, the files of a background run are
 * written, an engine works, its turn runs; or nothing is.
 * A call or a turn may still be on its way out after the process has ended without it.
 */
export type ProcessRun = "none" | "env" | "call" | "artifacts" | "engine" | "turn";

/** The id of the one turn that a process of an agent has. */
export const agentTurn = "turn";

/** A scope that is told of the end, and its waits that hear of it. */
export interface Peer {
  readonly scope: string;
  readonly waits: readonly string[];
}

/** A process as the state keeps it. */
export interface ProcessRow {
  readonly registration: ProcessRegistration;
  readonly hash: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly externalRef?: ExternalRef;
  readonly wait?: ProcessWait;
  readonly status: ProcessStatus;
  /** The place of its newest event; 0 before the first. */
  readonly sequence: number;
  readonly replays: PersistentMap<string, AppendedEvent>;
  /** How many signals of each event type came. */
  readonly signals: PersistentMap<string, number>;
  readonly run: ProcessRun;
  /** Asked to end. */
  readonly cancelled: boolean;
  readonly peers: readonly Peer[];
  /** The session that it was to wake is deleted. */
  readonly wakesNobody: boolean;
  /** Set for a sub-agent: the scope that gave it its grant, which is told what it has used. */
  readonly grantedBy?: string;
}

export type ProcessScopeEvent =
  | { readonly type: "process.registered"; readonly registration: ProcessRegistration; readonly hash: string }
  | {
      readonly type: "process.event_appended";
      readonly request: ProcessEventAppendRequest;
      readonly payload_hash: string;
      readonly invalid?: string;
    };

export interface HandleDescriptor {
  readonly kind?: string;
  readonly label?: string;
}
/** A process as its handle's holder sees it. */
export interface ProcessHandleSummary {
  readonly __handle__: "process";
  readonly id: string;
  readonly process_id: string;
  readonly descriptor: HandleDescriptor;
  readonly definition?: Json;
  readonly status: ProcessState;
}
