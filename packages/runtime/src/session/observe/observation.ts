/** What observers of a scope see. */
import type { Command } from "@pawl/sansio-core";
import type { Output, Progress, Task } from "@pawl/sansio-core/driver";
import {
  type Codec,
  type Json,
  type SessionEvent,
  type ToolCallOutput,
  type TurnActivity,
  record,
  string,
  u64,
} from "@pawl/tool-value";

type Of<T extends Command["type"]> = Extract<Command, { readonly type: T }>;

/** Where an observation stands: in the log of a scope, and among those of its event. */
export interface Cursor {
  readonly scope: string;
  readonly seq: number;
  readonly index: number;
}
export const Cursor: Codec<Cursor> = record<Cursor>("struct Cursor", { scope: string, seq: u64, index: u64 });

/** The cursor of one who has seen all that an event was, and all before it. */
export const endOf = (scope: string, seq: number): Cursor => ({ scope, seq, index: Number.MAX_SAFE_INTEGER });

/** Returns whether a cursor lies after another one of the same scope. */
export const isAfter = (a: Cursor, b: Cursor): boolean => (a.seq === b.seq ? a.index > b.index : a.seq > b.seq);

export interface OfCall {
  /** Its name in the scope, `{request}:{id}`, by which it is approved, rejected and cancelled. */
  readonly call: string;
  readonly call_id: string;
  readonly name: string;
  readonly args: Json;
}

export type Observation =
  | { readonly type: "session_event"; readonly event: SessionEvent }
  | { readonly type: "activity"; readonly activity: TurnActivity }
  /** The call awaits a person's approval of these arguments; a decision names their `stableHash`. */
  | ({ readonly type: "call_parked" } & OfCall)
  /** A body that was not waited for any more has ended all the same. */
  | ({ readonly type: "call_settled_late"; readonly output?: ToolCallOutput; readonly duration_ms?: number } & OfCall)
  | ({ readonly type: "process" } & Omit<Of<"process.observe">, "type">)
  | { readonly type: "task"; readonly what: Of<"task.observe">["what"]; readonly task: Task }
  /** What a background run said since it last did. */
  | ({ readonly type: "run_reported"; readonly output: readonly Output[] } & Omit<RunSaid, "type" | "output" | OfTask>)
  /** Its session was told. */
  | { readonly type: "session_told"; readonly key: string; readonly text: string; readonly schedule?: string };
type OfTask = "task" | "title";

/** One word of a background run; those who watch its session hear it as well. */
export interface RunSaid {
  readonly type: "run";
  readonly process: string;
  /** The name of the attempt that speaks, and of its folder. */
  readonly run: string;
  readonly task: string;
  readonly title: string;
  readonly attempt: number;
  readonly detail?: string;
  readonly progress?: Progress;
  readonly output?: Output;
}

/** Heard by who listens at the time, and recorded nowhere. */
export type Ephemeral =
  | RunSaid
  | ({ readonly type: "progress"; readonly text: string; readonly kind: string } & Omit<OfCall, "args">)
  | { readonly type: "plugin_event"; readonly plugin: string; readonly call: string; readonly event: Json };

export type Frame =
  | { readonly type: "observed"; readonly cursor: Cursor; readonly at: number; readonly observation: Observation }
  | { readonly type: "ephemeral"; readonly observation: Ephemeral }
  /** What stands from one cursor to the other, both included, was missed; the log may still have it. */
  | { readonly type: "gap"; readonly from: Cursor; readonly to: Cursor };
export type Observed = Extract<Frame, { readonly type: "observed" }>;
