import { loadAll } from "@pawl/runtime";
import type { Scenario } from "./scenario.ts";
import type { Outcome } from "./outcome.ts";
import { World, type WorldOptions } from "./world.ts";

/**
 * Runs a scenario once. In a page all code is loaded first: a chunk that arrived in the middle of a run would make it
 * differ.
 */
export const runScenario = async (scenario: Scenario, options: WorldOptions = {}): Promise<Outcome> => {
  await loadAll();
  return new World(scenario, options).run();
};
