/** What an event of a declared type means: whether it ends its process, and whether it wakes somebody. */
import { type Json, render, select } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { EventTypeSemantics, ProcessEventSemantics, TerminalSpec, WakeDedupe, WakeSpec } from "./model.ts";
import { awaitOutputOf, wrapOutput } from "./output.ts";

type Terminal = NonNullable<ProcessEventSemantics["terminal"]>;
type Wake = NonNullable<ProcessEventSemantics["wake"]>;

/** Whether a condition holds: every number does, the empty and the absent do not. */
export const isTruthy = (json: Json): boolean => {
  if (json === null || json === false || json === "") return false;
  if (typeof json !== "object") return true;
  return Array.isArray(json) ? json.length > 0 : Object.keys(json).length > 0;
};

const terminalOf = ({ state, await_output }: TerminalSpec, payload: Json): E.Either<string, Terminal> => {
  if (await_output === undefined) return E.right({ state, await_output: wrapOutput(state, payload) });
  const selected = select(await_output, payload);
  return E.isLeft(selected) ? selected : E.right({ state, await_output: awaitOutputOf(state, selected.right) });
};

/** What tells a wake from others: the event's own name, a part of its payload, or a fixed text. */
export const dedupeKeyOf = (dedupe: WakeDedupe, payload: Json, eventIdentity: string): E.Either<string, string> => {
  if (dedupe === "event_identity") return E.right(eventIdentity);
  return "const" in dedupe ? E.right(dedupe.const) : E.map(render)(select(dedupe.selector, payload));
};

const wakeOf = (spec: WakeSpec, payload: Json, eventIdentity: string): E.Either<string, Wake | undefined> => {
  const when = spec.when === undefined ? E.right<string, Json>(true) : select(spec.when, payload);
  if (E.isLeft(when)) return when;
  if (!isTruthy(when.right)) return E.right(undefined);
  const input = select(spec.input, payload);
  if (E.isLeft(input)) return input;
  const dedupeKey = dedupeKeyOf(spec.dedupe_key, payload, eventIdentity);
  if (E.isLeft(dedupeKey)) return dedupeKey;
  return E.right({ input: render(input.right), dedupe_key: dedupeKey.right });
};

/** How an event is told apart from all others. */
export const eventIdentityOf = (processId: string, sequence: number): string => `${processId}:${sequence}`;

/** The meaning of a payload under the semantics of its type; a selector that finds nothing is an error. */
export const materialize = (
  { terminal, wake }: EventTypeSemantics,
  payload: Json,
  eventIdentity: string,
): E.Either<string, ProcessEventSemantics> => {
  const end = terminal === undefined ? E.right(undefined) : terminalOf(terminal, payload);
  if (E.isLeft(end)) return end;
  const woken = wake === undefined ? E.right(undefined) : wakeOf(wake, payload, eventIdentity);
  if (E.isLeft(woken)) return woken;
  return E.right({
    ...(end.right === undefined ? {} : { terminal: end.right }),
    ...(woken.right === undefined ? {} : { wake: woken.right }),
  });
};
