/** Answers questions of clients about the turns of a session. */
import type { Session } from "@pawl/runtime";
import { type TurnOptions, budgetOf } from "@pawl/runtime/driver";
import type { ClientFrame, HostFrame } from "../frame/index.ts";
import type { PendingBelow } from "../frame/turn-frame.ts";

type Of<T extends ClientFrame["type"]> = Extract<ClientFrame, { readonly type: T }>;
export type TurnQuestion = Of<"turn" | "budget" | "decide_budget" | "compact" | "prompt">;

/** Returns where a decision is taken: at the session, or at a sub-agent of it. */
export const subAgentOf = async (
  session: Session,
  { sub_agent: id }: { readonly sub_agent?: string },
): Promise<Session> => (id === undefined ? session : session.subAgent(id));

/** Lists what waits for a person in a session, and below it. */
export const pendingIn = async (session: Session, id: number): Promise<HostFrame> => {
  const pending = await session.approvals({ deep: true });
  const approvals = pending.flatMap((one) => (one.kind === "call" && one.subAgent === undefined ? one.approval : []));
  const below = pending.flatMap((one): PendingBelow[] => {
    const { subAgent: sub_agent } = one;
    if (sub_agent === undefined) return [];
    if (one.kind === "call") return [{ kind: "call", sub_agent, approval: one.approval }];
    if (one.kind === "budget") return [{ kind: "budget", sub_agent, ask: one.ask, reached: one.reached }];
    const { count, address } = one;
    return [{ kind: "elsewhere", sub_agent, count, ...(address === undefined ? {} : { address }) }];
  });
  return { type: "approvals_wanted", id, approvals, below };
};

const optionsOf = ({ agent, when_busy: whenBusy, limits, output, traceparent }: Of<"turn">): TurnOptions => ({
  ...(agent === undefined ? {} : { agent }),
  ...(whenBusy === undefined ? {} : { whenBusy }),
  ...(limits === undefined ? {} : { limits }),
  ...(output === undefined ? {} : { output }),
  ...(traceparent === undefined ? {} : { traceparent }),
});

/** Answers a question about turns once the answer is durable. */
export const answerTurn = async (
  session: Session,
  frame: TurnQuestion,
  { by, gone }: { readonly by: string; readonly gone: AbortSignal },
): Promise<HostFrame> => {
  const { id } = frame;
  switch (frame.type) {
    case "turn": {
      const { request, messages } = frame;
      return {
        type: "turned",
        id,
        turn: await session.turn(request, messages, { ...optionsOf(frame), by, keep: true, signal: gone }),
      };
    }
    case "budget":
      return { type: "budget_told", id, ...budgetOf(session.runner.durable) };
    case "decide_budget": {
      const { ask, decision, add, decision_id } = frame;
      const how = { ...(add === undefined ? {} : { add }), ...(decision_id === undefined ? {} : { decision_id }) };
      await (await subAgentOf(session, frame)).decideBudget({ ask, decision, by, ...how });
      return { type: "done", id };
    }
    case "prompt": {
      const { request, n } = frame;
      const of = { ...(request === undefined ? {} : { request }), ...(n === undefined ? {} : { n }) };
      return { type: "prompted", id, prompt: await session.prompt(of) };
    }
    case "compact":
      await session.report({ type: "compaction.requested", by });
      return { type: "done", id };
  }
};
