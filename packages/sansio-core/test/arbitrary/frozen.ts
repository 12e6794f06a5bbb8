/** Freezes what may be frozen: rows, commands, events. Of what hides what it holds, only a persistent map shows it. */
import { bodyOf } from "../../src/call/row.ts";
import { Deadlines } from "../../src/kernel/deadline.ts";
import { PersistentMap } from "../../src/kernel/persistent-map.ts";
import type { State } from "../../src/kernel/vocabulary.ts";
import { Table } from "../../src/kernel/table.ts";

const isOpaque = (value: object): boolean => value instanceof Table || value instanceof Deadlines;

export const frozen = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || isOpaque(value)) return value;
  Object.freeze(value);
  for (const part of value instanceof PersistentMap ? value.values() : Object.values(value)) frozen(part);
  return value;
};

/** A state, with the rows of its tables. */
export const frozenState = (state: State): State => {
  for (const table of [state.requests, state.batches, state.calls, state.waits])
    for (const row of table.rows()) frozen(row);
  for (const row of state.calls.rows()) {
    for (const effect of bodyOf(row)?.settled.values() ?? []) frozen(effect);
  }
  for (const row of state.flows.values()) frozen(row);
  return frozen(state);
};
