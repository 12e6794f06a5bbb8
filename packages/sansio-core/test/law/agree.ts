/** `ask` and `step` are two: what the one advises, the other takes, and nothing else. */
import * as E from "fp-ts/lib/Either.js";
import type { CallIn } from "../../src/call/model.ts";
import { nextDeadline, step } from "../../src/machine.ts";
import { type Asked, ask } from "../../src/call/effect/ask.ts";
import type { Event, State } from "../../src/kernel/vocabulary.ts";

const takes = (state: State, event: Event): boolean =>
  E.isRight(step(state, { seq: state.seq + 1, at: state.at, event }));

/** A request as its record says it was made. */
const askedAs = ({ call, body }: CallIn<"running">, key: string): Asked => {
  const { kind, hash } = body.open.find((open) => open.key === key) ??
    body.settled.get(key) ?? { kind: "step" as const, hash: "h" };
  return { call: call.ref, attempt: body.attempt, run: body.run, key, kind, hash };
};

const disagreement = (state: State, asked: Asked): string | undefined => {
  const { call, attempt, run, key, hash } = asked;
  const advice = ask(state, asked).type;
  const effect = { kind: "step", recovery: "again", input: null } as const;
  const isRecorded = takes(state, { type: "effect.requested", call, attempt, run, key, hash, effect });
  const isReused = takes(state, { type: "effect.reused", call, attempt, key });
  if (isRecorded !== (advice === "record"))
    return `${advice} is advised, and a record is ${isRecorded ? "" : "not "}taken`;
  return isReused === (advice === "reuse")
    ? undefined
    : `${advice} is advised, and a reuse is ${isReused ? "" : "not "}taken`;
};

export const agreement = (state: State): string | undefined => {
  const due = nextDeadline(state);
  if (state.scope.status.type !== "open" || (due !== undefined && due.at <= state.at)) return undefined;
  for (const row of state.calls.rows()) {
    if (row.phase !== "running") continue;
    const keys = [...row.body.open.map(({ key }) => key), ...row.body.settled.keys(), "new"];
    for (const key of keys) {
      const broken = disagreement(state, askedAs(row, key));
      if (broken !== undefined) return `${row.call.ref}, \`${key}\`: ${broken}`;
    }
  }
  return undefined;
};
