/** Cost of a simulated event of the core simulation with all checkers, relative to its step alone. */
import { type Envelope, type State, digest, initial, step } from "@pawl/sansio-core";
import { type CoreSimRun, runCoreSim } from "@pawl/testkit/core-sim";
import * as E from "fp-ts/lib/Either.js";
import type { Figure, Measurement } from "./figure.ts";

const seeds = 12;

const stepped = (scope: string, log: readonly Envelope[]): State => {
  let state = initial(scope);
  for (const envelope of log) {
    const result = step(state, envelope);
    if (E.isLeft(result)) throw new Error(`${scope} ${envelope.seq}: ${result.left.message}`);
    digest(result.right);
    state = result.right.state;
  }
  return state;
};

const checked = (seed: number): CoreSimRun => {
  const run = runCoreSim(seed);
  if (run.violation !== undefined) throw new Error(`seed ${seed}: ${run.violation.message}`);
  return run;
};

/** Runs each seed's simulation, then the steps of its logs, so that other load affects both alike. */
const round = (): Measurement => {
  let floor = 0;
  let value = 0;
  let events = 0;
  let steps = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const start = performance.now();
    const run = checked(seed);
    const between = performance.now();
    for (const [scope, log] of run.logs) stepped(scope, log);
    floor += performance.now() - between;
    value += between - start;
    events += run.events;
    for (const log of run.logs.values()) steps += log.length;
  }
  return { value: (value * 1000) / events, floor: (floor * 1000) / steps };
};

export const simFigures: readonly Figure[] = [
  {
    name: "sim.steps",
    what: "a simulated event of the core simulation with all checkers, relative to its step and digest alone",
    unit: "us",
    bound: 5,
    round,
  },
];
