import { loadAll } from "@pawl/runtime";
import type { Scenario } from "./scenario.ts";
import type { Outcome } from "./outcome.ts";
import { World, type WorldOptions } from "./world.ts";

/** Runs a scenario once. In a page a file that came in the midst of it would come at another moment each time. */
export const runScenario = async (scenario: Scenario, options: WorldOptions = {}): Promise<Outcome> => {
  await loadAll();
  return new World(scenario, options).run();
};
