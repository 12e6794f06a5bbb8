/** What a run came to, beside one that nothing disturbed: what was lost, what fired more often than claimed. */
import { type Json, type JsonObject, canonicalJson } from "@pawl/tool-value";
import { type Fate, type Moment, describeMoment } from "./moment.ts";
import type { Claim, Scenario } from "./scenario.ts";
import type { Ended, Outcome } from "./world.ts";

/** What befell a run, at which of its moments. */
export interface Blow {
  readonly n: number;
  readonly fate: Fate;
  readonly moment: Moment;
}

export type Harm = "lost" | "doubled" | "other_result" | "diverged" | Exclude<Ended, "done">;

export interface Violation {
  readonly harm: Harm;
  readonly blows: readonly Blow[];
  readonly message: string;
}

export interface Run {
  readonly blows: readonly Blow[];
  readonly outcome: Outcome;
}

const isUnknownIn = /"(?:tool|step)_outcome_unknown"/;

/** Whether the log, or what the host was told, says that an outcome is unknown. */
export const saysUnknown = ({ logs, result = null }: Outcome): boolean =>
  isUnknownIn.test(canonicalJson(result)) ||
  [...logs.values()].some((lines) => lines.some(({ line }) => isUnknownIn.test(line)));

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What a reply says of how long it took is another in each run. */
export const timeless = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(timeless);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([name]) => name !== "duration_ms");
  return Object.fromEntries(entries.map(([name, of]) => [name, timeless(of)]));
};

export const claimOf = (effect: string, scenario: Scenario, claims: ReadonlyMap<string, Claim>): Claim =>
  scenario.claims?.[effect] ?? claims.get(effect) ?? "exactly_once";

/** How a count breaks its claim, beside how often the effect happens undisturbed. */
const breach = (claim: Claim, count: number, usual: number, isUnknown: boolean): "lost" | "doubled" | undefined => {
  const mayRepeat = claim === "at_least_once" || claim === "any";
  const mayMiss = claim === "at_most_once" || claim === "any" || isUnknown;
  if (count > usual && !mayRepeat) return "doubled";
  return count < usual && !mayMiss ? "lost" : undefined;
};

/** How often each tool did something that has a name. */
export const doersOf = (effect: string, { happened }: Outcome): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { effect: name, tool } of happened) {
    if (name === effect && tool !== undefined) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  }
  return counts;
};

/** The tools that did it another number of times than they do undisturbed. */
const blamed = (effect: string, outcome: Outcome, usual: Outcome): string => {
  const [counts, expected] = [doersOf(effect, outcome), doersOf(effect, usual)];
  const tools = [...new Set([...counts.keys(), ...expected.keys()])].filter(
    (tool) => counts.get(tool) !== expected.get(tool),
  );
  return tools.length === 0 ? "" : ` of ${tools.map((tool) => `\`${tool}\``).join(" and ")}`;
};

const miscountsOf = ({ blows, outcome }: Run, usual: Outcome, scenario: Scenario): readonly Violation[] => {
  const isUnknown = saysUnknown(outcome);
  const effects = new Set([...usual.effects.keys(), ...outcome.effects.keys()]);
  return [...effects].flatMap((effect): Violation[] => {
    const [count, expected] = [outcome.effects.get(effect) ?? 0, usual.effects.get(effect) ?? 0];
    const claim = claimOf(effect, scenario, new Map([...usual.claims, ...outcome.claims]));
    const harm = breach(claim, count, expected, isUnknown);
    if (harm === undefined) return [];
    return [
      {
        harm,
        blows,
        message: `\`${effect}\`${blamed(effect, outcome, usual)} happened ${count === 1 ? "once" : `${count} times`}, undisturbed ${expected}; claimed is ${claim}`,
      },
    ];
  });
};

/** The same code runs again: a body that asks otherwise than its log says hangs on something that is not in it. */
const divergencesOf = ({ blows, outcome }: Run): readonly Violation[] =>
  [...outcome.logs.values()].flatMap((lines) =>
    lines
      .filter(({ line }) => line.includes('"event":{"type":"call.diverged"'))
      .map(({ line }) => ({ harm: "diverged", blows, message: line.trimEnd() })),
  );

/** So much of a result is shown. */
const shownLength = 500;

export const violationsOf = (run: Run, usual: Outcome, scenario: Scenario): readonly Violation[] => {
  const { blows, outcome } = run;
  const { ended, why = "", result } = outcome;
  if (ended !== "done") return [{ harm: ended, blows, message: why }];
  const found = [...divergencesOf(run), ...miscountsOf(run, usual, scenario)];
  const [came, wanted] = [result, usual.result].map((value) => canonicalJson(timeless(value ?? null)));
  if (came === wanted || came === undefined || wanted === undefined || saysUnknown(outcome)) return found;
  const message = `expected ${wanted.slice(0, shownLength)}, found ${came.slice(0, shownLength)}`;
  return [...found, { harm: "other_result", blows, message }];
};

const describeBlow = ({ n, fate, moment }: Blow): string =>
  `${fate === "die" ? "died" : fate} at ${n}, ${describeMoment(moment)}`;

export const describeBlows = (blows: readonly Blow[]): string =>
  blows.length === 0 ? "undisturbed" : blows.map(describeBlow).join("; then ");
