/** Stops: a turn that is cancelled, or interrupted by a message. What the model has said until then is kept as a cut answer. */
import type { Draft } from "../kernel/draft.ts";
import { deadlineIn } from "../kernel/deadline.ts";
import { answerBatch } from "../kernel/vocabulary.ts";
import { checkpoint } from "./checkpoint.ts";
import { append, inPhase, joiners, put } from "./conversation.ts";
import { endTurn, saying, unheard } from "./end.ts";
import type { Said } from "./frame.ts";
import { type Piece, assemble, textOf } from "./message.ts";
import type { ModelCall, PhaseIn, RunningTurn } from "./model.ts";

/** Tells an attempt to stop; it has a moment to say what it has. */
const stopAttempt = (draft: Draft, row: RunningTurn, call: ModelCall, why: "cancel" | "interrupt"): void => {
  const due = { ...deadlineIn(draft, draft.options.stop_ms), key: row.request };
  put(draft, inPhase(draft, row, { type: "stopping", call, for: why, due }));
  draft.emit({ type: "model.stop", request: row.request, n: call.n, attempt: call.attempt });
};

/** Cancels the running turn: an attempt is stopped, a batch is cancelled, and all else ends at once. */
export const cancelTurn = (draft: Draft, before: RunningTurn): void => {
  const row = { ...before, cancelled: true };
  const { phase } = row;
  switch (phase.type) {
    case "asking":
      return stopAttempt(draft, row, phase.call, "cancel");
    case "stopping":
      return put(draft, { ...row, phase: { ...phase, for: "cancel" } });
    case "calling":
      put(draft, row);
      return draft.raise({ type: "batches.cancel", batches: [answerBatch(row.request, phase.n)] });
    default:
      return endTurn(draft, row, { status: "stopped", because: "cancelled" });
  }
};

/** A message interrupts the turn: what the model says is stopped, and a pause between two attempts is given up. */
export const interrupt = (draft: Draft, row: RunningTurn): void => {
  const { phase } = row;
  if (phase.type === "asking" && phase.call.kind === "answer") stopAttempt(draft, row, phase.call, "interrupt");
  else if (phase.type === "backing_off" && phase.call.kind === "answer") checkpoint(draft, row);
};

/** The events that hold what a stopped attempt has said; undefined where it has said nothing. */
const saidBy = (call: ModelCall, own: readonly number[]): Said | undefined => {
  const seqs = [...call.streamed, ...own];
  const seq = seqs.at(-1) ?? call.prefixed.at(-1);
  if (seq === undefined) return undefined;
  if (seqs.length === 0) return { seq, prefix: call.prefixed.slice(0, -1) };
  const streamed = seqs.slice(0, -1);
  return {
    seq,
    ...(call.prefixed.length === 0 ? {} : { prefix: call.prefixed }),
    ...(streamed.length === 0 ? {} : { streamed }),
  };
};

/** A stopped attempt has ended, with these pieces in the event that says so. */
export const stopped = (draft: Draft, row: RunningTurn, phase: PhaseIn<"stopping">, pieces: readonly Piece[]): void => {
  const { call } = phase;
  const text = call.kind === "answer" ? call.prefix + textOf(assemble([...call.pieces, ...pieces])) : "";
  const said = text === "" ? undefined : saidBy(call, pieces.length === 0 ? [] : [draft.seq]);
  const isKept = draft.options.keep_partial && (phase.for === "cancel" || joiners(draft).length > 0);
  if (said !== undefined && isKept) append(draft, row, { type: "cut", ...said });
  if (phase.for === "interrupt") return checkpoint(draft, row);
  return endTurn(draft, row, { status: "stopped", because: "cancelled", ...saying(text) });
};

/** A stopped attempt has not said how it ended: what is on record is all that there is. */
export const stoppedInSilence = (draft: Draft, row: RunningTurn, phase: PhaseIn<"stopping">): void => {
  unheard(draft, row, phase.call);
  stopped(draft, row, phase, []);
};
