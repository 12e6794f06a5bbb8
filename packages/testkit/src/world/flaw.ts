/** Flaws of an undisturbed run. Other runs are only compared with it, so they would not show them. */
import type { Event, EventOf } from "@pawl/sansio-core";
import { claimOf, mayMiss, type Scenario } from "./scenario.ts";
import { eventOf, type Run, type Violation, type Outcome } from "./outcome.ts";

type Settled = EventOf<"call.settled">;

const outcomeOf = ({ result }: Settled) => (result.type === "done" ? result.output.outcome : undefined);

/** Reports an internal error of a body. */
const failureOf = (settled: Settled, threw: ReadonlyMap<string, string>): readonly Violation[] => {
  const outcome = outcomeOf(settled);
  if (outcome?.status !== "failure" || outcome.payload.class !== "internal") return [];
  const { call } = settled;
  const { code, message } = outcome.payload;
  const told = `call \`${call}\` ended as \`${code}\`: ${threw.get(call) ?? message}`;
  return [{ harm: "failed", of: call, blows: [], message: told }];
};

/** Returns the steps that a call requested and neither completed nor left to a choice (`race`, `any`). */
const abandonedBy = (call: string, events: readonly Event[]): readonly string[] => {
  const open = new Set<string>();
  for (const event of events) {
    if (!("call" in event) || event.call !== call) continue;
    if (event.type === "step.settled") open.delete(event.key);
    if (event.type !== "effect.requested") continue;
    const { effect, key } = event;
    if (effect.kind === "step") open.add(key);
    if (effect.kind === "select") for (const member of effect.keys) open.delete(member);
  }
  return [...open].map((key) => key.replace(/^durable-step:/, ""));
};

const abandonments = (
  settled: Settled,
  events: readonly Event[],
  { claims }: Outcome,
  scenario: Scenario,
): readonly Violation[] => {
  if (outcomeOf(settled)?.status !== "success") return [];
  return abandonedBy(settled.call, events).flatMap((step): readonly Violation[] => {
    const effect = [...claims.keys()].find((name) => name.startsWith("step ") && name.endsWith(`/${step}`));
    if (effect === undefined || mayMiss(claimOf(effect, scenario, claims))) return [];
    const message = `call \`${settled.call}\` requested \`${effect}\` and ended before it was done`;
    return [{ harm: "lost", of: effect, blows: [], message }];
  });
};

/** Reports effects that were started and not awaited. */
const unawaited = ({ moments, claims }: Outcome, scenario: Scenario): readonly Violation[] => {
  const open = new Map<string, number>();
  for (const moment of moments) {
    if (moment.type !== "effect") continue;
    const { effect, when } = moment;
    open.set(effect, (open.get(effect) ?? 0) + (when === "before" ? 1 : -1));
  }
  return [...open].flatMap(([effect, count]): readonly Violation[] => {
    if (count <= 0 || effect.startsWith("step ") || mayMiss(claimOf(effect, scenario, claims))) return [];
    const message = `\`${effect}\` was started, and not done when the host had all its answers`;
    return [{ harm: "lost", of: effect, blows: [], message }];
  });
};

export const flawsOf = ({ blows, outcome }: Run, scenario: Scenario): readonly Violation[] => {
  if (blows.length > 0 || outcome.ended !== "done") return [];
  const logs = [...outcome.logs.values()].map((lines) => lines.map(eventOf));
  const ends = logs.flatMap((events) => events.filter((event) => event.type === "call.settled"));
  const hasSucceeded = ends.every((settled) => outcomeOf(settled)?.status === "success");
  return [
    ...(scenario.mayFail === true ? [] : ends.flatMap((settled) => failureOf(settled, outcome.threw))),
    ...logs.flatMap((events) =>
      ends
        .filter((settled) => events.includes(settled))
        .flatMap((settled) => abandonments(settled, events, outcome, scenario)),
    ),
    ...(hasSucceeded ? unawaited(outcome, scenario) : []),
  ];
};
