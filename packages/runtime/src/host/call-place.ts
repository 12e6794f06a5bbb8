/** Which call it is, as hosts, hooks and logs are told. */
import type { CallRef, State } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import { causeChain } from "../tool/result.ts";
import type { ToolHost } from "./tool-host.ts";

export interface Place {
  readonly scope: string;
  /** The session that it is for: of a process, the one that started it. */
  readonly session: string;
  readonly request: string;
  readonly call: CallRef;
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  readonly replay?: Json;
}

const sessionPrefix = "session:";

/** The session of a scope: of a process without one, the scope itself. */
export const sessionOf = ({ scope: { id }, process }: State): string => {
  if (id.startsWith(sessionPrefix)) return id.slice(sessionPrefix.length);
  const originator = process?.registration.provenance.originator;
  return originator?.type === "session" ? originator.scope.session_id : id;
};

/** The execution scope of a request: its host's, or its own. */
export const executionScopeIn = ({ requests, scope }: State, request: string): string =>
  requests.at(request)?.executionScope ?? `${scope.id}/${request}`;

export const placeOf = (state: State, call: CallRef): Place => {
  const row = state.calls.at(call);
  const { id = call, request = "", replay } = row?.call ?? {};
  return {
    scope: state.scope.id,
    session: sessionOf(state),
    request,
    call,
    callId: id,
    tool: row?.tool ?? "",
    args: row?.args ?? null,
    ...(replay === undefined ? {} : { replay }),
  };
};

/** Tells the host of what no model is shown. */
export const report = ({ internalError }: ToolHost, place: Place, thrown: unknown): void => {
  const { scope, tool, callId } = place;
  internalError?.(place.call, thrown, { scope, tool, callId, message: causeChain(thrown) });
};
