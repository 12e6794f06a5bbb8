/** What a body did before this run: read from its row, and from the log where the row says so. */
import type { CallRef, State } from "@pawl/sansio-core";
import { type SettledEffect, bodyOf } from "@pawl/sansio-core/driver";
import { isMarked } from "../journal/blob.ts";
import type { Answer } from "./body.ts";
import { type ReadLines, Quarantined, eventsIn, linesAt } from "../scope/fold.ts";
import type { Cause, ScopeRunner } from "../scope/runner.ts";
import { type Recorded, recordedOf } from "./replay-order.ts";
import { resultIn } from "./value.ts";
import type { Values } from "../scope/values.ts";

export interface RecordedRun {
  readonly at: number;
  readonly effects: readonly Recorded[];
  readonly answers: readonly Answer[];
}

export interface RecordedRunPort {
  readonly runner: ScopeRunner;
  readonly readLines: ReadLines;
  readonly values: Values;
}

const causeAt = ({ scope }: State, events: ReadonlyMap<number, Cause>, seq: number): Cause => {
  const cause = events.get(seq);
  if (cause === undefined) throw new Quarantined(scope.id, `event ${seq} is not in the log`);
  return cause;
};

/** One event of the log, with its values. */
export const shownEventAt = async (
  { runner, readLines, values }: RecordedRunPort,
  seq: number,
): Promise<Cause["event"]> => {
  const { state } = runner;
  const events = eventsIn(state.scope.id, await linesAt(readLines, [seq]));
  return values.of(causeAt(state, events, seq).event);
};

/**
 * Where this attempt asked for an effect. A step that may run only once, and that an earlier attempt left open, it asked
 * for when its outcome was found to be unknown.
 */
const askedAt = (effect: SettledEffect, attempt: number, events: ReadonlyMap<number, Cause>): number => {
  const { once, status, requested, settled } = effect;
  if (!once || status === "ok") return requested;
  const asked = events.get(requested)?.event;
  return asked !== undefined && "attempt" in asked && asked.attempt === attempt ? requested : settled;
};

export const recordedRunOf = async (port: RecordedRunPort, call: CallRef, attempt: number): Promise<RecordedRun> => {
  const { runner, readLines, values } = port;
  const row = runner.state.calls.at(call);
  const body = row === undefined ? undefined : bodyOf(row);
  if (body === undefined) return { at: runner.state.at, effects: [], answers: [] };
  const settled = [...body.settled];
  if (settled.length === 0 && body.open.length === 0) return { at: body.startedAt, effects: [], answers: [] };
  const seqs = settled.flatMap(([, effect]) => [
    effect.value,
    effect.settled,
    ...(effect.once ? [effect.requested] : []),
  ]);
  await runner.whenDurable(seqs.reduce((a, b) => Math.max(a, b), 0)); // What was told just now is not in the log yet.
  const lines = await linesAt(readLines, seqs);
  const { state } = runner;
  const events = eventsIn(state.scope.id, lines);
  const answers = settled.map(([key, effect]): Answer => {
    const { settled: seq, index, winner } = effect;
    const result = resultIn(causeAt(state, events, effect.value).event, key, effect, state.process);
    return { key, seq, index, at: causeAt(state, events, seq).at, result, winner };
  });
  const own = settled
    .filter(([, effect]) => effect.attempt === attempt)
    .map(([key, effect]) => recordedOf(key, { ...effect, requested: askedAt(effect, attempt, events) }));
  const open = body.open
    .filter((effect) => effect.attempt === attempt)
    .map(({ key, seq }) => ({ key, requested: seq }));
  const mayRefer = state.process !== undefined || lines.some(({ line }) => isMarked(line));
  return {
    at: body.startedAt,
    effects: [...own, ...open],
    answers: mayRefer ? await values.of(answers) : answers,
  };
};
