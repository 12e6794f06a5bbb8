/** What scopes say to each other. Values stand encoded, as in events. */
import type { Json } from "@pawl/tool-value";
import type { TaskUpdate } from "./task.ts";
import type { SessionScope } from "../identity/session-scope.ts";
import type {
  HandleDescriptor,
  ProcessEventAppendRequest,
  ProcessRegistration,
  ProcessState,
  TerminalState,
} from "../process/model.ts";
import type { WakeDelivery } from "../process/wake.ts";

/** What is asked of a process. Each is known again by a key, so that asking twice is asking once. */
export type Asking =
  | { readonly type: "process.start"; readonly registration: ProcessRegistration; readonly hash: string }
  | {
      readonly type: "process.signal";
      readonly name: string;
      readonly signal_id: string;
      readonly payload: Json;
      /** Of `[event type, payload]`. */
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

/** What a process tells those who have to do with it, a session another, and a session the processes of its handles. */
export type Telling =
  | {
      readonly type: "process.ended";
      readonly process: string;
      /** Of its registration. */
      readonly hash: string;
      readonly state: TerminalState;
      /** The waits of the peer's that hear of it; without any the output is left out. */
      readonly waits: readonly string[];
      readonly output?: Json;
    }
  | { readonly type: "process.woke"; readonly wake: WakeDelivery }
  /** Of a background run: what becomes of its task. */
  | { readonly type: "task.reported"; readonly task: string; readonly run: string; readonly update: TaskUpdate }
  | ({ readonly type: "handle.granted" } & GrantedHandle)
  /** A session has the handle of this process, or has it no more: whom its end is told. */
  | { readonly type: "handle.held"; readonly held: boolean }
  /** The session that says so is no more: it holds nothing, and is not woken. */
  | { readonly type: "session.deleted" };

/** The last word of a link. */
export interface Closing {
  readonly type: "link.closed";
}

export type Message = Asking | Telling | Closing;
export type MessageOf<T extends Message["type"]> = Extract<Message, { readonly type: T }>;
/** What concerns send and take; the last word is the link's own. */
export type Said = Asking | Telling;

/** What became of a message at its receiver. `last`: nothing will come of more, so that the link may close. */
export type Outcome =
  | { readonly status: "accepted"; readonly value: Json; readonly last?: boolean }
  | { readonly status: "refused"; readonly code: string; readonly message: string; readonly last?: boolean };
