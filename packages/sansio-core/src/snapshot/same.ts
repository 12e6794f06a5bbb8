/** Compares states, however they came about: by their snapshots, which are made only in doubt. */
import { callIn } from "../turn/conversation.ts";
import { seqsOf } from "../turn/frame.ts";
import { stringifyRecord } from "@pawl/tool-value";
import { bodyOf } from "../call/row.ts";
import type { State } from "../kernel/vocabulary.ts";
import { shapeOf, snapshot } from "./write.ts";

interface Fields {
  readonly [key: string]: unknown;
}

const isPlain = (u: unknown): u is Fields =>
  typeof u === "object" && u !== null && Object.getPrototypeOf(u) === Object.prototype;

const countOf = (fields: Fields): number => {
  let count = 0;
  for (const value of Object.values(fields)) if (value !== undefined) count += 1;
  return count;
};

/** Undefined counts as absent. */
const pushFields = (a: Fields, b: Fields, rest: unknown[]): boolean => {
  for (const key of Object.keys(a)) if (a[key] !== undefined) rest.push(a[key], b[key]);
  return countOf(a) === countOf(b);
};

const pushItems = (a: readonly unknown[], b: readonly unknown[], rest: unknown[]): boolean => {
  for (let i = 0; i < a.length; i++) rest.push(a[i], b[i]);
  return a.length === b.length;
};

/** Returns true only where both say the same for certain. */
const isSame = (a: unknown, b: unknown): boolean => {
  const rest: unknown[] = [a, b];
  while (rest.length > 0) {
    const [y, x] = [rest.pop(), rest.pop()];
    if (x === y) continue;
    const isAlike =
      Array.isArray(x) && Array.isArray(y) ? pushItems(x, y, rest) : isPlain(x) && isPlain(y) && pushFields(x, y, rest);
    if (!isAlike) return false;
  }
  return true;
};

const textOf = (state: State): string => stringifyRecord(snapshot(state));

/** Returns whether two states are equal, however they came about. */
export const isSameState = (a: State, b: State): boolean =>
  a === b || isSame(shapeOf(a), shapeOf(b)) || textOf(a) === textOf(b);

// Lines of its log that a state refers to for their values: retention keeps them.

/** The events that prompts are made of: of all frames, of the model call that is under way, and of turns that wait. */
const ofConversation = ({ frames, agents, running, waiting }: State["conversation"]): readonly number[] => {
  const call = running === undefined ? undefined : callIn(running.phase);
  return [
    ...frames.values().flatMap(({ entries }) => entries.flatMap(seqsOf)),
    ...agents.values().map(({ seq }) => seq),
    ...(running?.agent === undefined ? [] : [running.agent.seq]),
    ...(call === undefined ? [] : [...call.prefixed, ...call.streamed]),
    ...waiting.map(({ born }) => born),
  ];
};

/**
 * Where answers of live bodies stand, how waits ended that somebody may still await, and what models are shown; in the order
 * of the log.
 */
export const referredTo = ({ calls, waits, conversation }: State): readonly number[] => {
  const seqs = new Set<number>(ofConversation(conversation));
  for (const row of calls.rows()) {
    const body = bodyOf(row);
    for (const { value, settled, first = settled } of body?.settled.values() ?? []) seqs.add(value).add(first);
    for (const { groups } of body?.streams ?? []) for (const { seq } of groups) seqs.add(seq);
  }
  for (const { terminal } of waits.rows()) if (terminal !== undefined) seqs.add(terminal.seq);
  return [...seqs].toSorted((a, b) => a - b);
};
