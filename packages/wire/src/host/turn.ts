/** Answers questions of clients about the turns of a session. */
import type { Session } from "@pawl/runtime";
import { type TurnOptions, budgetOf } from "@pawl/runtime/driver";
import type { ClientFrame, HostFrame } from "../frame/index.ts";

type Of<T extends ClientFrame["type"]> = Extract<ClientFrame, { readonly type: T }>;
export type TurnQuestion = Of<"turn" | "budget" | "decide_budget" | "compact">;

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
      await session.decideBudget({ ask, decision, by, ...how });
      return { type: "done", id };
    }
    case "compact":
      await session.report({ type: "compaction.requested", by });
      return { type: "done", id };
  }
};
