/** The turn of the scene "Talk": who asks the model, and how the turn begins and goes on. */
import type { HostPort, Session, ToolDefinition } from "@pawl/runtime";
import type { Endpoint } from "../agent/endpoint.ts";
import { World } from "../engine/world.ts";
import { endpointPort } from "./endpoint-port.ts";
import { scriptedPort } from "./scripted-port.ts";
import { agentName, answersAllowed, lines, planner, task, teamDayTools } from "./team-day.ts";

/** Makes the host's part in turns: the agent, and the port of its model. The script goes on in mid-word, an endpoint begins anew. */
export const turnHost = (endpoint?: Endpoint): HostPort => {
  const port = endpoint === undefined ? scriptedPort(lines) : endpointPort(endpoint);
  const agent = planner(endpoint?.model ?? "script", endpoint === undefined);
  return { models: () => port, agents: (name) => (name === agentName ? agent : undefined) };
};

/** Makes tools and a host for runs beside the recorded one, which act on a world of their own. */
export const forkPlay = (): { readonly tools: readonly ToolDefinition[]; readonly host: HostPort } => ({
  tools: teamDayTools({ world: new World("turn-fork"), worker: "fork" }),
  host: turnHost(),
});

/** Begins the turn, or joins it. */
export const beginTurn = (session: Session): Promise<unknown> =>
  session.turn("turn-1", task, {
    agent: agentName,
    // oxlint-disable-next-line unicorn/no-thenable -- what follows when it is reached
    limits: { model_calls: { limit: answersAllowed, then: "ask" } },
  });

/** Decides on a budget that is used up. */
export const decideBudget = (session: Session, ask: number, more: boolean, by: string): Promise<void> =>
  session.decideBudget({
    ask,
    by,
    decision: more ? "extend" : "stop",
    ...(more && { add: { turn: { model_calls: 1 } } }),
  });
