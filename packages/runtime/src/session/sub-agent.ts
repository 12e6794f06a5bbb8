/**
 * The decisions that a session and its sub-agents wait for, at any depth: calls that want approval, and budgets of sub-agents
 * that are used up. Each is decided where it stands, in the scope of its sub-agent.
 * Few programs need this: it is loaded when it is asked for, and has nothing of the engine in it.
 */
import type { State } from "@pawl/sansio-core";
import type { Amounts, Reached } from "@pawl/sansio-core/driver";
import { OwnedElsewhere } from "../error.ts";
import type { ScopeEntry } from "../journal/journal.ts";
import type { BudgetDecision } from "../turn/submit.ts";
import type { ByWhom, PendingApproval } from "./approval.ts";
import type { Session } from "./session.ts";

/** The person who decides on a budget. A decision of the same name counts once. */
export type BudgetDecider = Pick<ByWhom, "by" | "id">;

/** A budget that is used up: its turn waits for a decision. */
export class PendingBudget {
  readonly kind = "budget";
  /** The sub-agent whose turn it is. */
  readonly subAgent: string;
  /** The number of the question, in the scope of the sub-agent. */
  readonly ask: number;
  readonly reached: readonly Reached[];
  readonly #session: Pick<Session, "decideBudget">;

  constructor(subAgent: string, of: Pick<PendingBudget, "ask" | "reached">, session: Pick<Session, "decideBudget">) {
    this.subAgent = subAgent;
    this.ask = of.ask;
    this.reached = of.reached;
    this.#session = session;
  }

  /** Adds to the limits of the sub-agent, and for `session` to its grant and to every level above it: it goes on. */
  extend(
    add: NonNullable<BudgetDecision["add"]> & { readonly session?: Amounts },
    decider: BudgetDecider,
  ): Promise<void> {
    return this.#session.decideBudget({ ask: this.ask, decision: "extend", add, ...decidedBy(decider) });
  }

  /** Stops the sub-agent: whoever awaits it reads a failure. */
  stop(decider: BudgetDecider): Promise<void> {
    return this.#session.decideBudget({ ask: this.ask, decision: "stop", ...decidedBy(decider) });
  }
}

const decidedBy = ({ by, id }: BudgetDecider): Pick<BudgetDecision, "by" | "decision_id"> =>
  id === undefined ? { by } : { by, decision_id: id };

/** A decision that a session waits for, with the sub-agent that it is of; without one it is the session's own. */
export type PendingDecision =
  | { readonly kind: "call"; readonly subAgent?: string; readonly approval: PendingApproval }
  | PendingBudget
  /** A sub-agent that another instance owns has so many: ask there. */
  | { readonly kind: "elsewhere"; readonly subAgent: string; readonly count: number; readonly address?: string };

/** The budget for whose extension a turn waits, if it does. */
const parkedIn = ({ conversation: { running } }: State) =>
  running?.phase.type === "parked" ? running.phase : undefined;

/** The part of an instance that reaches sub-agents. */
export interface SubAgents {
  readonly awaiting: (prefix: string, after: string, limit: number) => Promise<readonly ScopeEntry[]>;
  readonly isStored: (scope: string) => Promise<boolean>;
  readonly open: (scope: string) => Promise<Session>;
}

const pageSize = 100;

async function* awaitingBelow({ awaiting }: SubAgents, prefix: string): AsyncGenerator<ScopeEntry> {
  for (let after = ""; ;) {
    const page = await awaiting(prefix, after, pageSize);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.scope;
  }
}

const pendingOf = async (subAgent: string, session: Session): Promise<readonly PendingDecision[]> => {
  const calls = (await session.approvals()).map((approval) => ({ kind: "call", subAgent, approval }) as const);
  const parked = parkedIn(session.state);
  return parked === undefined ? calls : [...calls, new PendingBudget(subAgent, parked, session)];
};

/** Lists the decisions that sub-agents wait for, by their names. `prefix` begins the names of their scopes. */
export const pendingBelow = async (reach: SubAgents, prefix: string): Promise<readonly PendingDecision[]> => {
  const found: PendingDecision[] = [];
  for await (const entry of awaitingBelow(reach, prefix)) {
    const subAgent = entry.scope.slice("process:".length);
    try {
      found.push(...(await pendingOf(subAgent, await reach.open(entry.scope))));
    } catch (thrown) {
      if (!(thrown instanceof OwnedElsewhere)) throw thrown;
      const { address } = thrown;
      const count = entry.approvals ?? 0;
      found.push({ kind: "elsewhere", subAgent, count, ...(address === undefined ? {} : { address }) });
    }
  }
  return found;
};
