/** Explains what the running turn waits for, and behind whom the others do. */
import type { State } from "../kernel/vocabulary.ts";
import type { PhaseIn, RunningTurn } from "../turn/model.ts";
import type { OtherReason, TurnWaits } from "./model.ts";

type Reason = Omit<OtherReason, "since">;

const unitsOf = (phase: PhaseIn<"asking">): number =>
  phase.call.prefix.length +
  phase.call.pieces.reduce((sum, { text = "", part }) => sum + text.length + Number(part !== undefined), 0);

/** A model that is asked, or told to stop. */
const ofModel = ({ request, agent }: RunningTurn, phase: PhaseIn<"asking" | "stopping">): TurnWaits => {
  const { n, attempt, mode, route } = phase.call;
  const { provider = "", model = "" } = agent?.routes[route] ?? {};
  const of = { request, n, attempt, mode, provider, model };
  return phase.type === "asking" ? { type: "model", ...of, units: unitsOf(phase) } : { type: "model_stop", ...of };
};

const reasonOf = (row: RunningTurn): Reason => {
  const { request, phase } = row;
  switch (phase.type) {
    case "loading":
      return { what: { type: "agent", request, agent: phase.agent }, movedBy: ["agent.published", "agent.missing"] };
    case "asking":
      return { what: ofModel(row, phase), movedBy: ["model.answered", "model.failed", "request.cancelled"] };
    case "stopping":
      return {
        what: ofModel(row, phase),
        until: phase.due.at,
        movedBy: ["model.stopped", "model.answered", "model.failed"],
      };
    case "backing_off": {
      const { call, cause, due } = phase;
      const what = { type: "model_pause", request, n: call.n, attempt: call.attempt, cause } as const;
      return { what, until: due.at, movedBy: ["request.cancelled"] };
    }
    case "unknown": {
      const { n, attempt } = phase.call;
      return { what: { type: "model_outcome", request, n, attempt }, movedBy: ["model.resolved"] };
    }
    case "calling":
      return { what: { type: "turn_calls", request, n: phase.n }, movedBy: ["request.cancelled"] };
    case "checking":
      return { what: { type: "turn_check", request, n: phase.n }, movedBy: ["turn.checked"] };
    case "parked":
      return { what: { type: "budget", request, ask: phase.ask, reached: phase.reached }, movedBy: ["budget.decided"] };
  }
};

/** One reason a live turn. */
export const turnReasons = ({ conversation: { running, waiting } }: State): readonly OtherReason[] => {
  if (running === undefined) return [];
  const queued = waiting.map(({ request, born, place }): OtherReason => {
    const what = { type: "turn_queued", request, behind: running.request, joins: place === "join" } as const;
    return { what, since: born, movedBy: ["request.cancelled"] };
  });
  return [{ ...reasonOf(running), since: running.since }, ...queued];
};
