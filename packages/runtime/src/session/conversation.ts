/**
 * The verbs of a session that concern its turns, and the decisions that it and its sub-agents wait for, at any depth: calls that
 * want approval, and budgets of sub-agents that are used up. Each is decided where it stands, in the scope of its sub-agent.
 */
import type { State } from "@pawl/sansio-core";
import type { Amounts, Reached, TurnEnd } from "@pawl/sansio-core/driver";
import { OwnedElsewhere, Refused } from "../error.ts";
import type { ScopeEntry } from "../journal/journal.ts";
import { subAgentsOf } from "../process/registration.ts";
import type { Access } from "../scope/access.ts";
import { type BudgetDecision, type Said, type TurnOptions, decideBudget, turnSubmitted } from "../turn/submit.ts";
import type { ReadTurnOptions, TurnFrame } from "../turn/turn-reader.ts";
import type { Turns } from "../turn/turns.ts";
import { type ByWhom, type Decides, PendingApproval, approvalsIn } from "./approval.ts";
import type { UnderWay } from "../lifecycle/eviction.ts";
import { held } from "./observe/follow.ts";
import type { Requests, Waiting } from "./request.ts";
import { CallsTools } from "./call.ts";
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

async function* awaitingBelow({ awaiting }: SubAgents, scope: string): AsyncGenerator<ScopeEntry> {
  for (let after = ""; ;) {
    const page = await awaiting(subAgentsOf(scope), after, pageSize);
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

/** Lists the decisions that the sub-agents below a scope wait for, by the names of the sub-agents. */
export const pendingBelow = async (reach: SubAgents, scope: string): Promise<readonly PendingDecision[]> => {
  const found: PendingDecision[] = [];
  for await (const entry of awaitingBelow(reach, scope)) {
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

/** Opens a sub-agent of a scope, at any depth. Another scope's is as unknown as one that there is not. */
export const subAgentIn = async (reach: SubAgents, scope: string, id: string): Promise<Session> => {
  const name = `process:${id}`;
  if (name.startsWith(subAgentsOf(scope)) && (await reach.isStored(name))) return reach.open(name);
  throw new Refused("scope_unknown", `${scope} has no sub-agent \`${id}\``);
};

/** The parts of a scope in memory that turns use. */
export interface Talking {
  readonly access: Access;
  readonly turns: Turns;
  readonly requests: Requests;
  readonly underWay: UnderWay;
  /** Refuses new work while the scope moves. */
  readonly refusal: Promise<never> | undefined;
  readonly reach: SubAgents;
}

export abstract class Conversation extends CallsTools {
  /** Acts on the scope as it is in memory now, unless the runtime is closing. */
  protected abstract talking<A>(act: (of: Talking) => Promise<A>): Promise<A>;

  abstract approve(...of: Parameters<Decides["approve"]>): Promise<void>;
  abstract reject(...of: Parameters<Decides["reject"]>): Promise<void>;

  /**
   * Says something to the session's agent, and waits for the end of the turn. The same turn again joins it, or is answered
   * as it was. `cancel` stops it.
   */
  turn(request: string, said: Said, options: TurnOptions & Waiting = {}): Promise<TurnEnd> {
    return this.talking(async ({ access, turns, requests, refusal }) => {
      await refusal;
      await turns.publish(options.agent);
      return requests.turn(turnSubmitted(access.platform, request, said, options), options);
    });
  }

  /** Reads the answers of a turn until it is over. A turn that nobody has submitted yet is waited for. */
  async *readTurn(request: string, options: ReadTurnOptions = {}): AsyncGenerator<TurnFrame> {
    const { signal = new AbortController().signal } = options;
    yield* await this.talking(async ({ underWay, turns }) =>
      held(underWay, turns.read(request, { ...options, signal }), signal),
    );
  }

  /** Decides on a budget that is reached: the turn that it holds up goes on, or stops. */
  decideBudget(decision: BudgetDecision): Promise<void> {
    return this.talking(({ access }) => decideBudget(access, decision));
  }

  /**
   * Lists the calls, of one request or of all, that wait for approval, oldest first: each has `approve` and `reject`. `deep`
   * lists what its sub-agents wait for as well, budgets that are used up among it.
   */
  approvals(request?: string): Promise<readonly PendingApproval[]>;
  approvals(of: { readonly deep: true }): Promise<readonly PendingDecision[]>;
  approvals(of?: string | { readonly deep: true }): Promise<readonly PendingApproval[] | readonly PendingDecision[]> {
    return this.talking(async ({ access, reach }) => {
      const isDeep = typeof of === "object";
      const wanted = await approvalsIn(access, isDeep ? undefined : of);
      const own = wanted.map((one) => new PendingApproval(one, this));
      if (!isDeep) return own;
      return [
        ...own.map((approval) => ({ kind: "call", approval }) as const),
        ...(await pendingBelow(reach, access.runner.id)),
      ];
    });
  }

  /** Opens a sub-agent of the session, at any depth: its decisions are taken there. */
  subAgent(id: string): Promise<Session> {
    return this.talking(({ access, reach }) => subAgentIn(reach, access.runner.id, id));
  }
}
