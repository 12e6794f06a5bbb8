/**
 * Checks whether two events commute: in both orders they are accepted, emit the same commands, and lead to the same
 * state.
 */
import { type Event, type State, type Transition, nextDeadline, step } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";

/** The sequence numbers of the two events, which swap in the other order. */
type Swap = readonly [number, number];

const isSame = (a: unknown, b: unknown, swap: Swap): boolean => {
  if (a === b) return true;
  if (typeof a === "number") return (a === swap[0] && b === swap[1]) || (a === swap[1] && b === swap[0]);
  if (typeof a === "string") return typeof b === "string" && isSameText(a, b, swap);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  return isSameObject(a, b, swap);
};

/** Names may contain sequence numbers. */
const isSameText = (a: string, b: string, [first, second]: Swap): boolean => {
  const [one, other] = [a.split(/(\d+)/), b.split(/(\d+)/)];
  if (one.length !== other.length) return false;
  const places = new Set([`${first}`, `${second}`]);
  return one.every((part, i) => part === other[i] || (places.has(part) && places.has(other[i] ?? "")));
};

const isMap = (one: object): one is ReadonlyMap<unknown, unknown> =>
  "entries" in one && typeof one.entries === "function" && !Array.isArray(one);

const entriesOf = (object: object): readonly (readonly [string, unknown])[] => {
  return isMap(object) ? [...object.entries()].map(([key, value]) => [String(key), value]) : Object.entries(object);
};

const isSameObject = (a: object, b: object, swap: Swap): boolean => {
  const [one, other] = [entriesOf(a), entriesOf(b)];
  if (one.length !== other.length) return false;
  const values = new Map(other);
  return one.every(([key, value]) => {
    if (values.has(key)) return isSame(value, values.get(key), swap);
    const match = other.find(([name]) => isSameText(key, name, swap));
    return match !== undefined && isSame(value, match[1], swap);
  });
};

const keyed = <A>(rows: readonly A[], keyOf: (row: A) => string): ReadonlyMap<string, A> =>
  new Map(rows.map((row): [string, A] => [keyOf(row), row]));

/** Returns the content of a state, without the order of its rows. */
const contentOf = (state: State): object => {
  const { deadlines: _, calls, batches, requests, waits, ...rest } = state;
  return {
    ...rest,
    calls: keyed(calls.rows(), ({ call }) => call.ref),
    batches: keyed(batches.rows(), ({ ref }) => ref),
    requests: keyed(requests.rows(), ({ request }) => request),
    waits: keyed(waits.rows(), ({ key }) => key),
    // The older of two equal deadlines comes first, which depends on the order.
    next: nextDeadline(state)?.at,
  };
};

export const inWords = (value: unknown): string =>
  (JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}` : part)) ?? "nothing").slice(
    0,
    1500,
  );

/** Returns the first part in which two things differ. */
const differenceOf = (a: object, b: object, swap: Swap): string => {
  const other = new Map(entriesOf(b));
  const [name, found] = entriesOf(a).find(([key, value]) => !isSame(value, other.get(key), swap)) ?? ["", undefined];
  return `${name}: ${inWords(found)} and ${inWords(other.get(name))}`;
};

interface Order {
  readonly first: Transition;
  readonly second: Transition;
}

const inOrder = (state: State, at: number, events: readonly [Event, Event]): Order | string => {
  const first = step(state, { seq: state.seq + 1, at, event: events[0] });
  if (E.isLeft(first)) return `${events[0].type} is refused: ${first.left.message}`;
  const second = step(first.right.state, { seq: state.seq + 2, at, event: events[1] });
  if (E.isLeft(second)) return `${events[1].type} is refused after ${events[0].type}: ${second.left.message}`;
  return { first: first.right, second: second.right };
};

/** Returns why two events do not commute, if they do not. */
export const conflictOf = (state: State, at: number, a: Event, b: Event): string | undefined => {
  const [ab, ba] = [inOrder(state, at, [a, b]), inOrder(state, at, [b, a])];
  if (typeof ab === "string") return ab;
  if (typeof ba === "string") return ba;
  const swap: Swap = [state.seq + 1, state.seq + 2];
  const commands = [
    [ab.first.commands, ba.second.commands],
    [ab.second.commands, ba.first.commands],
  ] as const;
  for (const [one, other] of commands)
    if (!isSame(one, other, swap)) return `commands: ${inWords(one)} and ${inWords(other)}`;
  const [one, other] = [contentOf(ab.second.state), contentOf(ba.second.state)];
  return isSame(one, other, swap) ? undefined : differenceOf(one, other, swap);
};
