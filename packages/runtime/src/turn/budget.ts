/** The budget of a session, as hosts see it and decide on it. */
import type { EventOf, State } from "@pawl/sansio-core";
import { type Reached, type Used, addedUsed } from "@pawl/sansio-core/driver";
import { Refused } from "../error.ts";
import { type Access, record } from "../scope/access.ts";
import { eventsOfTypes } from "../scope/history.ts";

type Limits = State["conversation"]["limits"]["turn"];

/** The amounts that a session has used, its limits, the turn that runs, and whether it waits for a decision on them. */
export interface BudgetStatus {
  readonly used: Used;
  readonly limits: { readonly turn: Limits; readonly session: Limits };
  readonly turn?: string;
  readonly parked?: { readonly ask: number; readonly reached: readonly Reached[] };
}

/** Reads the budget of a scope off its state. */
export const budgetOf = ({ conversation }: State): BudgetStatus => {
  const { used, limits, running } = conversation;
  if (running === undefined) return { used, limits };
  const { phase, request: turn } = running;
  const of = { used: addedUsed(used, running.used), limits, turn };
  return phase.type === "parked" ? { ...of, parked: { ask: phase.ask, reached: phase.reached } } : of;
};

export type BudgetDecision = Omit<EventOf<"budget.decided">, "type">;

const decided: ReadonlySet<"budget.decided"> = new Set(["budget.decided"]);

/** Returns whether this very decision is on record: the same name for it, of the same principal. */
const isOnRecord = async (access: Access, { ask, by, decision_id: id }: BudgetDecision): Promise<boolean> =>
  id !== undefined &&
  (await eventsOfTypes(access, decided)).some(
    ({ event }) => event.type === "budget.decided" && event.ask === ask && event.by === by && event.decision_id === id,
  );

/** Records a decision on a budget. The same decision again, as after a lost answer, counts once. */
export const decideBudget = async (access: Access, decision: BudgetDecision): Promise<void> => {
  try {
    await record(access, { type: "budget.decided", ...decision });
  } catch (thrown) {
    const isStale = thrown instanceof Refused && thrown.code === "stale_decision";
    if (!isStale || !(await isOnRecord(access, decision))) throw thrown;
  }
};
