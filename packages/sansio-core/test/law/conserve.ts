/** What is neither lost nor doubled, counted over all the commands of a history. */
import type { OpenEffect } from "../../src/call/effect/effect.ts";
import type { BodyState } from "../../src/call/model.ts";
import type { Command, Envelope, Event, EventOf, State } from "../../src/kernel/vocabulary.ts";
import type { Move } from "../arbitrary/play.ts";
import type { Transition } from "../../src/machine.ts";

const commandsOf = (transitions: readonly Transition[]): readonly Command[] =>
  transitions.flatMap(({ commands }) => commands);

/** Names come again when a request is submitted again: so each is counted up and down. */
export const conserved = (transitions: readonly Transition[], end: State): string | undefined => {
  const live = new Map<string, number>();
  for (const command of commandsOf(transitions)) {
    if (command.type !== "observe") continue;
    const { what, call } = command;
    const started = live.get(call) ?? 0;
    if (what === "call_started" && started > 0) return `${call} is observed as started again`;
    if (what === "call_completed" && started !== 1) return `${call} is observed as completed, ${started} times started`;
    if (what === "call_started") live.set(call, 1);
    if (what === "call_completed") live.delete(call);
  }
  const open = [...live.keys()].filter((call) => end.calls.at(call) === undefined);
  return open.length === 0 ? undefined : `${open.join()} left without being observed as completed`;
};

const counts = (ids: readonly string[]): string => ids.toSorted().join("|");

const submissions: ReadonlySet<string> = new Set(["request.submitted", "flow.submitted", "turn.submitted"]);

export const endOnce = (log: readonly Envelope[], transitions: readonly Transition[]): string | undefined => {
  const submitted = log.flatMap(({ event }) =>
    submissions.has(event.type) ? [(event as { readonly request: string }).request] : [],
  );
  const replied = commandsOf(transitions).flatMap((command) => (command.type === "reply" ? [command.request] : []));
  return counts(submitted) === counts(replied) ? undefined : `replied to ${counts(replied)} of ${counts(submitted)}`;
};

/** Of each call as it lives now: its name may come again after its end. */
export const startOnce = (transitions: readonly Transition[]): string | undefined => {
  const asked = new Set<string>();
  for (const { commands, state } of transitions) {
    for (const command of commands) {
      if (command.type !== "tool.execute" && command.type !== "step.run") continue;
      const { type, call, attempt, run } = command;
      const born = state.calls.at(call)?.call.born ?? 0;
      const step = command.type === "step.run" ? `${command.key} ${command.try ?? 1}` : "";
      const name = `${type} ${call} ${born} ${attempt} ${run} ${step}`;
      if (asked.has(name)) return `asked again: ${name}`;
      asked.add(name);
    }
  }
  return undefined;
};

type Ended = EventOf<"call.settled" | "call.continued">;

const isEnd = (event: Event): event is Ended => event.type === "call.settled" || event.type === "call.continued";

/** Returns what runs outside for a body, by its row alone: its steps but those that are due, and its requests to the host. */
const outside = ({ open, attempt }: BodyState): readonly OpenEffect[] =>
  open.filter(
    (effect) =>
      ["step", "host", "trigger"].includes(effect.kind) && effect.attempt === attempt && effect.due === undefined,
  );

/** The losers of each decided select are those that it had to choose from, as the log has it. */
const chosenFrom = (log: readonly Envelope[], call: string, { settled, attempt }: BodyState): ReadonlySet<string> =>
  new Set(
    log.flatMap(({ event }) => {
      if (event.type !== "effect.requested" || event.call !== call || event.effect.kind !== "select") return [];
      const decided = settled.get(event.key);
      return decided?.kind === "select" && decided.attempt === attempt ? event.effect.keys : [];
    }),
  );

/** Under protocol 2 a body that ends leaves nothing at work outside that it does not name. */
export const endsWhole = (moves: readonly Move[]): string | undefined => {
  for (const [i, { before, envelope }] of moves.entries()) {
    const { event } = envelope;
    if (before.scope.protocol === 1 || !isEnd(event)) continue;
    const row = before.calls.at(event.call);
    if (row?.phase !== "running" || row.cancelled !== undefined) continue;
    const losers = chosenFrom(
      moves.slice(0, i).map((move) => move.envelope),
      event.call,
      row.body,
    );
    const named = new Set([...losers, ...(event.left ?? [])]);
    const stray = outside(row.body).find(({ key, due }) => !named.has(key) && (due?.at ?? 0) <= envelope.at);
    if (stray !== undefined) return `${event.call} ends at ${envelope.seq}, and \`${stray.key}\` runs on`;
  }
  return undefined;
};

export const orderedAnswers = (transitions: readonly Transition[]): string | undefined => {
  const last = new Map<string, readonly [seq: number, index: number]>();
  for (const { state, commands } of transitions) {
    for (const command of commands) {
      if (command.type !== "step.answer") continue;
      const { call, seq, index, value } = command;
      if (seq !== state.seq || value > seq)
        return `an answer of ${seq} with the value of ${value} is given at ${state.seq}`;
      const [seqBefore, indexBefore] = last.get(call) ?? [0, 0];
      if (seq < seqBefore || (seq === seqBefore && index <= indexBefore)) {
        return `${call} is answered at (${seq}, ${index}) after (${seqBefore}, ${indexBefore})`;
      }
      last.set(call, [seq, index]);
    }
  }
  return undefined;
};
