/**
 * Runs a scenario under many seeds. A seed decides the faults and the order of ready tasks; the same seed gives the
 * same run, bit for bit. A failing run is shrunk before it is reported.
 */
import { SeededRandom } from "./random.ts";
import { flawsOf } from "./flaw.ts";
import { violationsOf } from "./judge.ts";
import { type Director, type Fate, faultsAt, lineFaults, storeFaults } from "./moment.ts";
import type { Scenario } from "./scenario.ts";
import { runScenario } from "./run.ts";
import type { Blow, Violation, Outcome } from "./outcome.ts";

export interface SimulateOptions {
  /** The first seed. */
  readonly seed?: number;
  /** The number of seeds. */
  readonly seeds?: number;
  /** Faults as `9:die,14:full`, instead of the seed's. */
  readonly fates?: string;
  /** Deaths per thousand moments. */
  readonly deathsPerMille?: number;
  /** Faults of the store or the connection per thousand appends and requests. */
  readonly faultsPerMille?: number;
  readonly things?: number;
}

export interface SimulationFailure {
  readonly seed: number;
  /** The faults that are needed for the failure. */
  readonly fates: string;
  readonly violation: Violation;
  /** The log of each scope in the smallest failing run. */
  readonly logs: ReadonlyMap<string, string>;
}

export interface Simulation {
  readonly runs: number;
  readonly events: number;
  readonly deaths: number;
  readonly faults: number;
  /** How often each fault occurred. */
  readonly befallen: { readonly [F in Fate]?: number };
  readonly failure: SimulationFailure | undefined;
}

type Fates = ReadonlyMap<number, Fate>;

/** Maximum number of faults in one run: a process that keeps dying gets nowhere. */
const maxBlows = 8;

const byChance = (
  chance: SeededRandom,
  { deathsPerMille = 15, faultsPerMille = 40 }: SimulateOptions,
  isLeased: boolean,
): Director => {
  let blows = 0;
  return (moment) => {
    if (blows >= maxBlows) return "live";
    const isDeath = chance.perMille(deathsPerMille);
    const faults = faultsAt(moment, isLeased);
    const isFault = faults.length > 0 && chance.perMille(faultsPerMille);
    if (!isDeath && !isFault) return "live";
    blows += 1;
    return isDeath ? "die" : (faults[chance.below(faults.length)] ?? "live");
  };
};

const writeFates = (fates: Fates): string => [...fates].map(([n, fate]) => `${n}:${fate}`).join(",");

const knownFates: ReadonlySet<string> = new Set(["die", "frozen", ...storeFaults, ...lineFaults]);
const readFates = (text: string): Fates =>
  new Map(
    text
      .split(",")
      .filter((part) => part !== "")
      .map((part): [number, Fate] => {
        const [n = "", fate = ""] = part.split(":");
        if (!/^\d+$/.test(n) || !knownFates.has(fate))
          throw new TypeError(
            `fate \`${part}\`: expected \`{moment}:{fate}\`, where a fate is one of ${[...knownFates].join(", ")}`,
          );
        return [Number(n), fate as Fate];
      }),
  );

interface Tried {
  readonly outcome: Outcome;
  readonly fates: Fates;
  readonly violations: readonly Violation[];
}

class Simulator {
  readonly #scenario: Scenario;
  readonly #options: SimulateOptions;
  #usual: Outcome | undefined;

  constructor(scenario: Scenario, options: SimulateOptions) {
    this.#scenario = scenario;
    this.#options = options;
  }

  async #run(seed: number, director: Director): Promise<Tried> {
    const usual = (this.#usual ??= await runScenario(this.#scenario, this.#bound));
    const order = new SeededRandom(seed ^ 0x5bd1e995);
    const fates = new Map<number, Fate>();
    const outcome = await runScenario(this.#scenario, {
      ...this.#bound,
      pick: (count) => order.below(count),
      director: (moment, n) => {
        const fate = director(moment, n);
        if (fate !== "live") fates.set(n, fate);
        return fate;
      },
    });
    const blows = [...fates].flatMap(([n, fate]): Blow[] => {
      const moment = outcome.moments[n - 1];
      return moment === undefined ? [] : [{ n, fate, moment }];
    });
    const run = { blows, outcome };
    const violations = [...flawsOf(run, this.#scenario), ...violationsOf(run, usual, this.#scenario)];
    return { outcome, fates, violations };
  }

  get #bound(): { readonly things?: number } {
    const { things } = this.#options;
    return things === undefined ? {} : { things };
  }

  /** Runs with the seed's faults. */
  seeded(seed: number): Promise<Tried> {
    return this.#run(
      seed,
      byChance(new SeededRandom(seed), this.#options, this.#scenario.runtime?.lease !== undefined),
    );
  }

  /** Runs with given faults. */
  told(seed: number, fates: Fates): Promise<Tried> {
    return this.#run(seed, (_, n) => fates.get(n) ?? "live");
  }

  /** Returns the smallest failing run: without faults, with one fault, or with as few as possible. */
  async smallest(seed: number, failed: Tried): Promise<Tried> {
    const undisturbed = await this.told(seed, new Map());
    if (undisturbed.violations.length > 0) return undisturbed;
    return (await this.#bySingleBlow(seed, failed)) ?? this.#withFewerBlows(seed, failed);
  }

  async #fails(seed: number, fates: Fates, like: Tried): Promise<Tried | undefined> {
    const tried = await this.told(seed, fates);
    const harm = like.violations[0]?.harm;
    return tried.violations.some((violation) => violation.harm === harm) ? tried : undefined;
  }

  async #bySingleBlow(seed: number, failed: Tried): Promise<Tried | undefined> {
    const kinds = new Set(failed.fates.values());
    const moments = this.#usual?.moments.length ?? 0;
    for (let n = 1; n <= moments; n++)
      for (const fate of kinds) {
        const tried = await this.#fails(seed, new Map([[n, fate]]), failed);
        if (tried !== undefined) return tried;
      }
    return undefined;
  }

  async #withFewerBlows(seed: number, failed: Tried): Promise<Tried> {
    let small = failed;
    for (const n of [...failed.fates.keys()].toReversed()) {
      const fewer = new Map([...small.fates].filter(([other]) => other !== n));
      small = (await this.#fails(seed, fewer, failed)) ?? small;
    }
    return small;
  }
}

const failureOf = (seed: number, { fates, violations, outcome }: Tried): SimulationFailure => ({
  seed,
  fates: writeFates(fates),
  violation: violations[0] as Violation,
  logs: new Map([...outcome.logs].map(([scope, lines]) => [scope, lines.map(({ line }) => line).join("")])),
});

const countLines = ({ logs }: Outcome): number => [...logs.values()].reduce((sum, lines) => sum + lines.length, 0);

/** Runs a scenario under faults that seeds choose, and minimises the first failure. */
export const simulate = async (scenario: Scenario, options: SimulateOptions = {}): Promise<Simulation> => {
  const { seed: first = 1, seeds = 1, fates } = options;
  const simulator = new Simulator(scenario, options);
  const befallen: { [F in Fate]?: number } = {};
  const counted = { runs: 0, events: 0, deaths: 0, faults: 0, befallen };
  for (let seed = first; seed < first + seeds; seed++) {
    const tried = await (fates === undefined ? simulator.seeded(seed) : simulator.told(seed, readFates(fates)));
    counted.runs += 1;
    counted.events += countLines(tried.outcome);
    counted.deaths += tried.outcome.deaths;
    for (const fate of tried.fates.values()) {
      befallen[fate] = (befallen[fate] ?? 0) + 1;
      if (fate !== "die") counted.faults += 1;
    }
    if (tried.violations.length > 0)
      return { ...counted, failure: failureOf(seed, await simulator.smallest(seed, tried)) };
  }
  return { ...counted, failure: undefined };
};
