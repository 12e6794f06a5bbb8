/** A hunt with the core simulation, for what takes many scopes, full links and conversations. */
import { runCoreSim } from "../../src/core-sim/index.ts";

const seeds = 150;

const simulated = async (): Promise<string | undefined> => {
  for (let seed = 1; seed <= seeds; seed++) {
    const { violation } = runCoreSim(seed, { protocol: 2 });
    if (violation !== undefined) return `seed ${seed}: ${violation.harm}: ${violation.message.slice(0, 1000)}`;
  }
  return undefined;
};

export const simulations = { simulated };
