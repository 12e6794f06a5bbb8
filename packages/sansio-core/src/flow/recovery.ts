/** What flows still ask of the world: lambdas to be applied. */
import type { Born } from "../kernel/command.ts";
import type { State } from "../kernel/state.ts";
import { lambdasOf } from "./read.ts";

export const outstandingOfFlows = (state: State): Born[] =>
  state.flows
    .values()
    .toSorted((a, b) => (a.request < b.request ? -1 : 1))
    .flatMap(lambdasOf)
    .map(({ born, step, command }) => ({ born, index: step, command }));
