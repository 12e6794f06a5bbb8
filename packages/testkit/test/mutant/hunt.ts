/** Hunts for faults in the code that it runs on. Exit code 1 means that it found one, which it prints. */
import { canonicalJson } from "@pawl/tool-value";
import {
  type Scenario,
  describeCrashes,
  describeSchedules,
  describeSimulation,
  exploreCrashes,
  exploreSchedules,
  simulate,
} from "../../src/index.ts";
import { absent } from "./absent.ts";
import { given } from "./given.ts";
import { kept } from "./kept.ts";
import { proofs } from "./releases.ts";
import { type Hunt, hunts } from "./scenarios.ts";
import { simulations } from "./simulated.ts";

/** More than any of these runs needs; an endless run is noticed soon. */
const things = 6000;

/** Lets the host check its own result, so that every explorer sees a wrong one. */
const checked = ({ scenario, expected, orElse = expected }: Hunt): Scenario => ({
  ...scenario,
  host: async (host) => {
    const result = await scenario.host(host);
    const [found, wanted, other] = [result, expected, orElse].map((value) => canonicalJson(value as never));
    const isUnknown = found?.includes("_outcome_unknown") === true;
    if (found !== wanted && found !== other && !isUnknown) throw new Error(`expected ${wanted}, found ${found}`);
    return result;
  },
});

/** Returns the first fault that an explorer finds. */
const wrong = async (hunt: Hunt): Promise<string | undefined> => {
  const scenario = checked(hunt);
  const rates = hunt.isCalm === true ? { deathsPerMille: 0, faultsPerMille: 0 } : { faultsPerMille: 100 };
  if (hunt.isCalm !== true) {
    const crashes = await exploreCrashes(scenario, { pairs: 25, things });
    if (!crashes.isSafe) return `crashes: ${describeCrashes(crashes)}`;
  }
  const simulation = await simulate(scenario, { seeds: 20, things, ...rates });
  if (simulation.failure !== undefined) return `chance: ${describeSimulation(simulation).slice(0, 2000)}`;
  if (hunt.isCalm === true) return undefined;
  const schedules = await exploreSchedules(scenario, { orders: 40, things });
  return schedules.isSafe ? undefined : `orders: ${describeSchedules(schedules)}`;
};

const [first] = process.argv.slice(2);
type Search = readonly [name: string, search: () => Promise<string | undefined>];

const proved = async (prove: () => Promise<string | undefined>): Promise<string | undefined> => {
  const found = await prove().catch((thrown: unknown) => `it threw ${String(thrown)}`);
  return found && `proof: ${found}`;
};

const all: readonly Search[] = [
  ...Object.entries<Hunt>(hunts).map(([name, hunt]): Search => [name, () => wrong(hunt)]),
  ...Object.entries({ ...proofs, ...absent, ...kept, ...given, ...simulations }).map(([name, prove]): Search => [
    name,
    () => proved(prove),
  ]),
];

for (const [name, search] of all.toSorted(([a], [b]) => Number(b === first) - Number(a === first))) {
  const found = await search();
  if (found === undefined) continue;
  console.log(`${name}, by ${found}`);
  process.exit(1);
}
