/** Divergences: bodies whose requests differ from their own log, or between two runs with the same log. */
import type { EventOf } from "@pawl/sansio-core";
import { canonicalJson } from "@pawl/tool-value";
import { eventOf, type Run, type Violation, type Outcome } from "./outcome.ts";

type Requested = EventOf<"effect.requested">;

/** Maximum length of a printed input. */
const shownLength = 200;

const asked = ({ key, effect }: Requested): string => {
  const input = "input" in effect ? ` with ${canonicalJson(effect.input).slice(0, shownLength)}` : "";
  return effect.kind === "step" ? `step \`${key.replace(/^durable-step:/, "")}\`${input}` : `\`${key}\`${input}`;
};

/** Finds bodies that diverged from their log. With unchanged code they must depend on something outside of it. */
const fromItsLog = ({ blows, outcome }: Run): readonly Violation[] =>
  [...outcome.logs.values()].flatMap((lines) =>
    lines
      .filter(({ line }) => line.includes('"event":{"type":"call.diverged"'))
      .flatMap((line): Violation[] => {
        const event = eventOf(line);
        if (event.type !== "call.diverged") return [];
        const { call, run, position, expected, found } = event;
        const message = `run ${run} of call \`${call}\` diverges from its log at request ${position}: expected ${expected}, found ${found}`;
        return [{ harm: "diverged", of: call, blows, message }];
      }),
  );

/** Returns the first differing requests of two logs that are equal up to there. */
const partingOf = (scope: string, { outcome }: Run, usual: Outcome): readonly [Requested, Requested] | undefined => {
  const [lines, others] = [outcome.logs.get(scope) ?? [], usual.logs.get(scope) ?? []];
  const at = lines.findIndex(({ line }, i) => line !== others[i]?.line);
  const [line, other] = [lines[at], others[at]];
  if (line === undefined || other === undefined) return undefined;
  const [one, two] = [eventOf(line), eventOf(other)];
  if (one.type !== "effect.requested" || two.type !== "effect.requested") return undefined;
  const isSame = one.call === two.call && one.key === two.key && one.hash === two.hash;
  return isSame || one.call !== two.call ? undefined : [one, two];
};

const fromTheUsual = (run: Run, usual: Outcome): readonly Violation[] =>
  [...run.outcome.logs.keys()].flatMap((scope): Violation[] => {
    const parting = partingOf(scope, run, usual);
    if (parting === undefined) return [];
    const [one, two] = parting;
    const message = `call \`${one.call}\` requests ${asked(two)} in one run of the scenario and ${asked(one)} in another, after the same log`;
    return [{ harm: "diverged", of: one.call, blows: [], message }];
  });

export const divergencesOf = (run: Run, usual: Outcome): readonly Violation[] => [
  ...fromTheUsual(run, usual),
  ...fromItsLog(run),
];
