import type { Scenario } from "./scenario.ts";
import type { Outcome } from "./outcome.ts";
import { World, type WorldOptions } from "./world.ts";

/** Runs a scenario once. */
export const runScenario = (scenario: Scenario, options: WorldOptions = {}): Promise<Outcome> =>
  new World(scenario, options).run();
