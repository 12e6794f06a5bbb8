/**
 * Errors are three and never mixed.
 *
 *   Rejection  a value: the outside is wrong. The state stands, nothing is appended.
 *   Fault      a reported fact: the world or the history is wrong.
 *   Invariant  thrown: we are wrong. The state is dead and is replayed from its log.
 */

export type RejectionCode =
  | "sequence_mismatch"
  | "time_went_back"
  | "scope_not_opened"
  | "stale_epoch"
  | "newer_protocol"
  | "not_an_upgrade"
  | "needs_protocol_2"
  | "scope_is_moving"
  | "scope_is_not_moving"
  | "scope_has_moved"
  | "nonce_mismatch"
  | "tool_conflict"
  | "empty_id"
  | "request_conflict"
  | "request_exists"
  | "request_unknown"
  | "call_id_conflict"
  | "no_reply_waits"
  | "call_unknown"
  | "call_ended"
  | "call_is_live"
  | "wrong_phase"
  | "stale_run"
  | "stale_attempt"
  | "stale_try"
  | "stale_answer"
  | "stale_decision"
  | "effect_unknown"
  | "effect_exists"
  | "effect_settled"
  | "effect_kind_mismatch"
  | "effects_open"
  | "stream_unknown"
  | "stale_stream"
  | "stream_full"
  | "replies_mismatch"
  | "not_a_waiter"
  | "already_resolved"
  | "unknown_or_revoked"
  | "too_many_unclaimed"
  | "owner_unknown"
  | "process_exists"
  | "process_event_exists"
  | "process_unknown"
  | "process_conflict"
  | "process_refused"
  | "link_gap"
  | "link_unknown"
  | "link_full"
  | "already_received"
  | "already_answered"
  | "handle_refused"
  | "session_deleted"
  | "message_unknown"
  | "flow_refused"
  | "wrong_scope"
  | "run_exists"
  | "run_unknown"
  | "task_exists"
  | "task_unknown"
  | "task_ended"
  | "already_cancelled"
  | "schedule_exists"
  | "schedule_unknown"
  | "schedule_unplanned"
  | "schedule_ended"
  | "too_many_schedules"
  | "invalid_turn"
  | "session_busy"
  | "too_many_turns"
  | "extension_too_small"
  | "edit_not_possible"
  | "frame_in_use"
  | "invalid_option";

/** Why an event does not fit: what was found, and what was wanted instead. */
export interface Rejection {
  readonly type: "rejection";
  readonly code: RejectionCode;
  readonly message: string;
}

export const reject = (code: RejectionCode, message: string): Rejection => ({ type: "rejection", code, message });

/** Ours: a law of the core does not hold. */
export class Invariant extends Error {
  override readonly name = "Invariant";
}

/** The end of an exhaustive switch. */
export const absurd = (x: never): never => {
  throw new Invariant(`unreachable: ${JSON.stringify(x)}`);
};

/** Returns what is broken in the first row that has something broken, after the row's name. */
export const firstBroken = <Row>(
  rows: readonly Row[],
  name: (row: Row) => string,
  broken: (row: Row) => string | undefined,
): string | undefined => {
  for (const row of rows) {
    const what = broken(row);
    if (what !== undefined) return `${name(row)}: ${what}`;
  }
  return undefined;
};
