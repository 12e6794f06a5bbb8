/**
 * Explores crashes: before and after each append and each effect, and at pairs of such moments. Compares each run with
 * an undisturbed one.
 */
import { claimOf, type Claim, type Scenario } from "./scenario.ts";
import { flawsOf } from "./flaw.ts";
import { doersOf, saysUnknown, violationsOf } from "./judge.ts";
import { type Fate, frozenAt } from "./moment.ts";
import { runScenario } from "./run.ts";
import type { Blow, Run, Violation, Outcome } from "./outcome.ts";

export interface CrashOptions {
  /** Maximum number of pairs, spread evenly over all pairs. */
  readonly pairs?: number;
  /** Maximum number of tasks in one run. */
  readonly things?: number;
}

/** How often an effect happened in all runs, and in an undisturbed one. */
export interface EffectCount {
  readonly effect: string;
  /** The tools that caused it, if they are known. */
  readonly tools: readonly string[];
  readonly claim: Claim;
  readonly undisturbed: number;
  readonly least: number;
  readonly most: number;
  /** The run with the most repetitions, if there were any. */
  readonly repeatedAt?: readonly Blow[];
}

export interface CrashReport {
  readonly isSafe: boolean;
  /** Moments of the undisturbed run; each was tried. */
  readonly points: number;
  /** Appends at which a process was frozen beyond its lease; all of them if it has a lease. */
  readonly frozen: number;
  readonly pairs: number;
  /** Number of possible pairs. If it is larger than `pairs`, the bound was reached. */
  readonly allPairs: number;
  readonly effects: readonly EffectCount[];
  /** Crashes after which an outcome is unknown. */
  readonly unknown: readonly (readonly Blow[])[];
  readonly violations: readonly Violation[];
}

class CrashExplorer {
  readonly #scenario: Scenario;
  readonly #things: number;
  readonly runs: Run[] = [];

  constructor(scenario: Scenario, things: number) {
    this.#scenario = scenario;
    this.#things = things;
  }

  /** Runs the scenario with a fault at these moments, counted over all processes of the run. */
  async run(strikeAt: readonly number[], fate: Fate = "die"): Promise<Run> {
    const outcome = await runScenario(this.#scenario, {
      director: (_, n) => (strikeAt.includes(n) ? fate : "live"),
      things: this.#things,
    });
    const blows = strikeAt.flatMap((n): Blow[] => {
      const moment = outcome.moments[n - 1];
      return moment === undefined ? [] : [{ n, fate, moment }];
    });
    const run = { blows, outcome };
    this.runs.push(run);
    return run;
  }
}

const countOf = (effect: string, runs: readonly Run[], usual: Outcome, scenario: Scenario): EffectCount => {
  const undisturbed = usual.effects.get(effect) ?? 0;
  const counts = runs.map(({ outcome }) => outcome.effects.get(effect) ?? 0);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const claim = claimOf(effect, scenario, new Map(runs.flatMap(({ outcome }) => [...outcome.claims])));
  const repeatedAt = most > undisturbed ? runs[counts.indexOf(most)]?.blows : undefined;
  const tools = [...new Set(runs.flatMap(({ outcome }) => [...doersOf(effect, outcome).keys()]))];
  return { effect, tools, claim, undisturbed, least, most, ...(repeatedAt === undefined ? {} : { repeatedAt }) };
};

/** Returns pairs of moments: the second crash comes after the first. */
const pairsAfter = (firsts: readonly Run[]): readonly (readonly [number, number])[] =>
  firsts.flatMap(({ blows, outcome }) => {
    const first = blows[0]?.n ?? 0;
    return outcome.moments.slice(first).map((_, i) => [first, first + i + 1] as const);
  });

const spread = <A>(all: readonly A[], count: number): readonly A[] =>
  all.length <= count ? all : Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)] as A);

/** Tries every moment of the undisturbed run, and pairs of moments. */
const strike = async (explorer: CrashExplorer, usual: Outcome, isLeased: boolean, most: number) => {
  await explorer.run([]); // A second undisturbed run shows dependence on a clock or on chance.
  const singles: Run[] = [];
  for (let n = 1; n <= usual.moments.length; n++) singles.push(await explorer.run([n]));
  const still = usual.moments.flatMap((moment, i) => (isLeased && frozenAt(moment) ? [i + 1] : []));
  for (const n of still) await explorer.run([n], "frozen");
  const all = pairsAfter(singles);
  const pairs = spread(all, most);
  for (const pair of pairs) await explorer.run(pair);
  return { points: singles.length, frozen: still.length, pairs: pairs.length, allPairs: all.length };
};

const judged = (runs: readonly Run[], usual: Outcome, scenario: Scenario) => {
  const flaws = flawsOf({ blows: [], outcome: usual }, scenario);
  const found = [...flaws, ...runs.flatMap((run) => violationsOf(run, usual, scenario))];
  const isOtherEachTime = found.some(({ harm, blows }) => harm === "diverged" && blows.length === 0);
  const isCounted = (effect: string): boolean => !isOtherEachTime || !effect.startsWith("step ");
  const violations = found.filter(({ of = "" }) => isCounted(of));
  const happened = [...new Set(runs.flatMap(({ outcome }) => [...outcome.effects.keys()]))].filter(isCounted);
  const effects = happened.toSorted().map((effect) => countOf(effect, runs, usual, scenario));
  return { isSafe: violations.length === 0, effects, violations };
};

/** Explores a scenario's crashes. A scenario that fails undisturbed is reported and not explored. */
export const exploreCrashes = async (scenario: Scenario, options: CrashOptions = {}): Promise<CrashReport> => {
  const { pairs: most = 200, things = 100_000 } = options;
  const explorer = new CrashExplorer(scenario, things);
  const { outcome: usual } = await explorer.run([]);
  const struck =
    usual.ended === "done"
      ? await strike(explorer, usual, scenario.runtime?.lease !== undefined, most)
      : { points: 0, frozen: 0, pairs: 0, allPairs: 0 };
  const { runs } = explorer;
  const unknown = runs.filter(({ outcome }) => saysUnknown(outcome)).map(({ blows }) => blows);
  return { ...judged(runs, usual, scenario), ...struck, unknown };
};
