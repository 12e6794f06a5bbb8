/** What is neither lost nor doubled, counted over all the commands of a history. */
import type { Command, Envelope, State } from "../../src/kernel/vocabulary.ts";
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

const submissions: ReadonlySet<string> = new Set(["request.submitted", "flow.submitted"]);

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
      const name = `${type} ${call} ${born} ${attempt} ${run} ${command.type === "step.run" ? command.key : ""}`;
      if (asked.has(name)) return `asked again: ${name}`;
      asked.add(name);
    }
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
