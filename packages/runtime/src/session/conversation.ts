/** The verbs of a session that concern its turns, and the sub-agents that they start. */
import type { TurnEnd } from "@pawl/sansio-core/driver";
import { Refused } from "../error.ts";
import { subAgentsOf } from "../process/registration.ts";
import type { Access } from "../scope/access.ts";
import { type BudgetDecision, type Said, type TurnOptions, decideBudget, turnSubmitted } from "../turn/submit.ts";
import type { ReadTurnOptions, TurnFrame } from "../turn/turn-reader.ts";
import type { PromptQuestion, ShownPrompt } from "../turn/shown-prompt.ts";
import type { Turns } from "../turn/turns.ts";
import { type Decides, PendingApproval, approvalsIn } from "./approval.ts";
import type { UnderWay } from "../lifecycle/eviction.ts";
import { held } from "./observe/log-page.ts";
import type { Requests, Waiting } from "./request.ts";
import { CallsTools } from "./call.ts";
import type { Session } from "./session.ts";
import type { PendingDecision, SubAgents } from "./sub-agent.ts";

/** The parts of a scope in memory that turns use. */
export interface Talking {
  readonly access: Access;
  readonly turns: Turns;
  readonly requests: Requests;
  readonly underWay: UnderWay;
  /** Refuses new work while the scope moves. */
  readonly refusal: () => Promise<never> | undefined;
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
      await refusal();
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

  /**
   * Returns what the model is told in the n-th model call of a turn, or in its last; without a turn, in the call that is open or
   * comes next. Prompts are not recorded: this one is made of the log, and has the hash that its answer has on record.
   */
  prompt(of: PromptQuestion = {}): Promise<ShownPrompt> {
    return this.talking(({ turns }) => turns.prompt(of));
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
      const { pendingBelow } = await import("./sub-agent.ts");
      return [
        ...own.map((approval) => ({ kind: "call", approval }) as const),
        ...(await pendingBelow(reach, subAgentsOf(access.runner.id))),
      ];
    });
  }

  /** Opens a sub-agent of the session, at any depth: its decisions are taken there. Another session's is unknown here. */
  subAgent(id: string): Promise<Session> {
    return this.talking(async ({ access: { runner }, reach }) => {
      const scope = `process:${id}`;
      if (scope.startsWith(subAgentsOf(runner.id)) && (await reach.isStored(scope))) return reach.open(scope);
      throw new Refused("scope_unknown", `${runner.id} has no sub-agent \`${id}\``);
    });
  }
}
