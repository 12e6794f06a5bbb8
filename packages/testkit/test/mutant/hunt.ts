/** Hunts whatever is wrong with the code it runs on. Its exit code says whether it found anything: 1, and what. */
import { canonicalJson } from "@pawl/tool-value";
import {
  describeCrashes,
  describeSchedules,
  describeSimulation,
  exploreCrashes,
  exploreSchedules,
  runScenario,
  simulate,
} from "../../src/index.ts";
import { type Hunt, hunts } from "./scenarios.ts";

/** More than any of these runs needs; one that goes in circles is found out soon. */
const things = 6000;

/** What is wrong, if anything is found. */
const wrong = async (name: string, { scenario, expected, isCalm = false }: Hunt): Promise<string | undefined> => {
  const { ended, why, result } = await runScenario(scenario, { things });
  if (ended !== "done") return `${name}: ${ended}: ${why}`;
  const [found, wanted] = [canonicalJson(result ?? null), canonicalJson(expected as never)];
  if (found !== wanted) return `${name}: expected ${wanted}, found ${found}`;
  if (isCalm) return undefined;
  const crashes = await exploreCrashes(scenario, { pairs: 25, things });
  if (!crashes.isSafe) return `${name}: ${describeCrashes(crashes)}`;
  const simulation = await simulate(scenario, { seeds: 20, faultsPerMille: 100, things });
  if (simulation.failure !== undefined) return `${name}: ${describeSimulation(simulation).slice(0, 2000)}`;
  const schedules = await exploreSchedules(scenario, { orders: 40, things });
  return schedules.isSafe ? undefined : `${name}: ${describeSchedules(schedules)}`;
};

for (const [name, hunt] of Object.entries(hunts)) {
  const found = await wrong(name, hunt);
  if (found === undefined) continue;
  console.log(found);
  process.exit(1);
}
