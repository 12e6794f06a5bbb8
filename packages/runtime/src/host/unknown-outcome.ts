/** Calls whose outcome is unknown: the host's resolver decides how they go on. */
import type { Command, Event, Reply, RequestedCall, State } from "@pawl/sansio-core";
import type { Json, ToolCallOutput } from "@pawl/tool-value";
import { type ToolHost, placeOf, report } from "./tool-host.ts";
import type { Values } from "../scope/values.ts";

type Resolve = Extract<Command, { readonly type: "outcome.resolve" }>;

export interface UnknownOutcome {
  readonly scope: string;
  readonly call: string;
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  readonly cause: Resolve["cause"];
}

export type OutcomeDecision =
  | { readonly type: "run_again" }
  /** Asks another tool: a success of null means that nothing happened, and the call runs again; any other is its output. */
  | { readonly type: "verify"; readonly tool: string; readonly args: Json }
  | { readonly type: "verified"; readonly output: ToolCallOutput }
  /** The call stays as it is until a person reports `outcome.resolved`; asked again when the scope is opened. */
  | { readonly type: "person" }
  | { readonly type: "give_up" };

export type OutcomeResolver = (unknown: UnknownOutcome) => Promise<OutcomeDecision>;

export interface ResolverPort {
  readonly host: ToolHost;
  readonly values: Values;
  readonly submit: (request: string, calls: readonly RequestedCall[]) => Promise<readonly Reply[]>;
}

type Resolved = Extract<Event, { readonly type: "outcome.resolved" }>["resolved"];

const verified = (output: ToolCallOutput | undefined): Resolved => {
  if (output?.outcome.status !== "success") return { type: "give_up" };
  return output.outcome.payload === null ? { type: "run_again" } : { type: "verified", output };
};

/** Submits the verifying call, as a request that is named after the run in question: asked again it is joined. */
const verify = async (
  port: ResolverPort,
  state: State,
  call: Resolve["call"],
  tool: string,
  args: Json,
): Promise<Resolved> => {
  const row = state.calls.at(call);
  const run = row?.phase === "unknown" ? `${row.body.attempt}.${row.body.run}` : "0";
  const [reply] = await port.submit(`verify:${call}:${run}`, [{ id: "verify", tool, args }]);
  return verified(reply?.output);
};

/** Asks the resolver. Undefined means that a person has to decide. */
export const resolveOutcome = async (
  port: ResolverPort,
  state: State,
  command: Resolve,
): Promise<Event | undefined> => {
  const { call, cause, tool } = command;
  const { resolveOutcome: resolver } = port.host;
  if (resolver === undefined) return { type: "outcome.resolved", call, resolved: { type: "give_up" } };
  try {
    const { scope, callId, args } = await port.values.of(placeOf(state, call));
    const decision = await resolver({ scope, call, callId, tool, args, cause });
    if (decision.type === "person") return undefined;
    const resolved =
      decision.type === "verify" ? await verify(port, state, call, decision.tool, decision.args) : decision;
    return { type: "outcome.resolved", call, resolved };
  } catch (thrown) {
    report(port.host, placeOf(state, call), thrown); // Nobody has decided: the resolver is asked again at the next opening.
    return undefined;
  }
};
