/** Turns as a host submits them, and the budget of a session, as hosts see it and decide on it. */
import type { EventOf, State } from "@pawl/sansio-core";
import { type TurnMessage, type WhenBusy, type Reached, type Used, addedUsed } from "@pawl/sansio-core/driver";
import { type Json, stringify } from "@pawl/tool-value";
import type { Platform } from "../platform.ts";
import { Refused } from "../error.ts";
import { type Access, record } from "../scope/access.ts";
import { eventsOfTypes } from "../scope/history.ts";

type Submitted = EventOf<"turn.submitted">;

/** Options of a turn, besides its messages. */
export interface TurnOptions {
  /** The agent that answers; without it the one that worked in the session last, at first `main`. */
  readonly agent?: string;
  /** Says what it does while another turn runs: it waits (`queue`), joins, interrupts or replaces that, or is refused. */
  readonly whenBusy?: WhenBusy;
  readonly limits?: Submitted["limits"];
  readonly output?: Submitted["output"];
  readonly executionScope?: string;
  readonly by?: string;
  readonly traceparent?: string;
}

/** The messages of a turn: a text of the user's, or messages. */
export type Said = string | readonly TurnMessage[];

const given = <K extends string, V>(key: K, value: V | undefined): { readonly [k in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [k in K]?: V };

/** Makes the event that submits a turn. The same id with another body is a conflict: its hash says so. */
export const turnSubmitted = (
  { hashText }: Pick<Platform, "hashText">,
  request: string,
  said: Said,
  options: TurnOptions,
): Submitted => {
  const { agent, whenBusy = "queue", limits, output, executionScope, by, traceparent } = options;
  const messages = typeof said === "string" ? [{ role: "user", content: said } as const] : said;
  const asked = { messages, ...given("agent", agent), ...given("limits", limits), ...given("output", output) };
  return {
    type: "turn.submitted",
    request,
    hash: hashText(stringify(asked as unknown as Json)),
    messages,
    when_busy: whenBusy,
    ...given("agent", agent),
    ...given("limits", limits),
    ...given("output", output),
    ...given("execution_scope", executionScope),
    ...given("by", by),
    ...given("traceparent", traceparent),
  };
};

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
