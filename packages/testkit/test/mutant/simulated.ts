/** A hunt with the core simulation, for what takes many scopes and full links. */
import { describeCoreSims, runCoreSims } from "../../src/core-sim/index.ts";

const seeds = 150;

const simulated = async (): Promise<string | undefined> => {
  const report = runCoreSims({ seeds, protocol: 2 });
  return report.failure === undefined ? undefined : describeCoreSims(report).slice(0, 1000);
};

export const simulations = { simulated };
