/** Judges a run by an undisturbed one: lost effects, effects that happened more often than claimed, other results. */
import { type Json, canonicalJson, isObject } from "@pawl/tool-value";
import { breach, claimOf, type Scenario } from "./scenario.ts";
import { divergencesOf } from "./divergence.ts";
import type { Run, Violation, Outcome } from "./outcome.ts";

const isUnknownIn = /"(?:tool|step|model)_outcome_unknown"/;

/** Tells whether the log, or an answer to the host, says that an outcome is unknown. */
export const saysUnknown = ({ logs, result = null }: Outcome): boolean =>
  isUnknownIn.test(canonicalJson(result)) ||
  [...logs.values()].some((lines) => lines.some(({ line }) => isUnknownIn.test(line)));

/** Removes durations, which differ between runs. */
export const timeless = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(timeless);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([name]) => name !== "duration_ms" && name !== "durationMs");
  return Object.fromEntries(entries.map(([name, of]) => [name, timeless(of)]));
};

/** Counts an effect by tool. */
export const doersOf = (effect: string, { happened }: Outcome): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { effect: name, tool } of happened) {
    if (name === effect && tool !== undefined) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  }
  return counts;
};

/** Returns the tools whose count differs from the undisturbed run. */
const blamed = (effect: string, outcome: Outcome, usual: Outcome): readonly string[] => {
  const [counts, expected] = [doersOf(effect, outcome), doersOf(effect, usual)];
  return [...new Set([...counts.keys(), ...expected.keys()])].filter((tool) => counts.get(tool) !== expected.get(tool));
};

const named = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(" and ");

/**
 * Counts an effect of these tools by place, and by whether it had a key that lets the service recognise a repetition.
 */
const placesOf = (effect: string, { happened }: Outcome, tools: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { effect: name, tool, step, key } of happened) {
    if (name !== effect || tool === undefined || !tools.includes(tool)) continue;
    const where = step === undefined ? "outside of any step" : `in step \`${step}\``;
    const place = `${where}, ${key === undefined ? "without a key" : "under another key each time"}`;
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return counts;
};

const doneAgain = (effect: string, outcome: Outcome, usual: Outcome, tools: readonly string[]): string => {
  const expected = placesOf(effect, usual, tools);
  const places = [...placesOf(effect, outcome, tools)].filter(([place, count]) => count > (expected.get(place) ?? 0));
  return places.length === 0 ? "" : `; it happened again ${places.map(([place]) => place).join(", and ")}`;
};

/** Explains a missing effect by a lost body that is not run again. */
const notRunAgain = ({ lostBodies }: Outcome, tools?: readonly string[]) => {
  const lost = lostBodies.find(({ tool }) => tools === undefined || tools.includes(tool));
  if (lost === undefined) return undefined;
  const { tool, recovery } = lost;
  const message = `; the body of \`${tool}\` is not run again, because its recovery is \`${recovery}\``;
  return { message, cause: "not_run_again" } as const;
};

const toolOfStep = (effect: string): readonly string[] => {
  const tool = /^step (?<tool>[^/]+)\//.exec(effect)?.groups?.["tool"];
  return tool === undefined ? [] : [tool];
};

/** Compares the counts. After a divergence steps cannot be compared. */
const miscountsOf = (
  { blows, outcome }: Run,
  usual: Outcome,
  scenario: Scenario,
  hasDiverged: boolean,
): readonly Violation[] => {
  const isUnknown = saysUnknown(outcome);
  const effects = new Set([...usual.effects.keys(), ...outcome.effects.keys()]);
  return [...effects].flatMap((effect): Violation[] => {
    if (hasDiverged && effect.startsWith("step ")) return [];
    const [count, expected] = [outcome.effects.get(effect) ?? 0, usual.effects.get(effect) ?? 0];
    const claim = claimOf(effect, scenario, new Map([...usual.claims, ...outcome.claims]));
    const harm = breach(claim, count, expected, isUnknown);
    if (harm === undefined) return [];
    const tools = blamed(effect, outcome, usual);
    const of = tools.length === 0 ? "" : ` of ${named(tools)}`;
    const counted = `\`${effect}\`${of} happened ${count === 1 ? "once" : `${count} times`}, undisturbed ${expected}; claimed is ${claim}`;
    if (harm === "doubled")
      return [{ harm, of: effect, blows, message: `${counted}${doneAgain(effect, outcome, usual, tools)}` }];
    const { message = "", ...cause } = notRunAgain(outcome, [...tools, ...toolOfStep(effect)]) ?? {};
    return [{ harm, of: effect, blows, ...cause, message: `${counted}${message}` }];
  });
};

/** Maximum length of a printed result. */
const shownLength = 500;

export const violationsOf = (run: Run, usual: Outcome, scenario: Scenario): readonly Violation[] => {
  const { blows, outcome } = run;
  const { ended, why = "", result } = outcome;
  const diverged = divergencesOf(run, usual);
  if (ended === "stuck" && diverged.length > 0) return diverged; // A call that diverged is parked.
  if (ended !== "done") {
    const { message = "", ...cause } = (ended === "stuck" ? notRunAgain(outcome) : undefined) ?? {};
    return [{ harm: ended, blows, ...cause, message: `${why}${message}` }];
  }
  const found = [...diverged, ...miscountsOf(run, usual, scenario, diverged.length > 0)];
  const [came, wanted] = [result, usual.result].map((value) => canonicalJson(timeless(value ?? null)));
  if (came === wanted || came === undefined || wanted === undefined || saysUnknown(outcome)) return found;
  const message = `expected ${wanted.slice(0, shownLength)}, found ${came.slice(0, shownLength)}`;
  return [...found, { harm: "other_result", blows, message }];
};
