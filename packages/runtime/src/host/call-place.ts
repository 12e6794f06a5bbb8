/** Which call it is, as hosts, hooks and logs are told. */
import type { CallRef, State } from "@pawl/sansio-core";
import { type AwaitEventWaitIdentity, awaitKeyId } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../error.ts";
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

/** Returns the id of a wait of an execution scope. */
const waitIdIn = (executionScope: string, wait: AwaitEventWaitIdentity): string => {
  const id = awaitKeyId({ type: "runtime_operation", operation_id: executionScope }, wait);
  if (E.isLeft(id)) throw new EffectError(id.left.code, id.left.message);
  return id.right.key_id;
};

/** Returns the key under which the outside answers what a call waits for under a name of its own. */
export const customKeyId = ({ executionScope }: { readonly executionScope: string }, key: string): string =>
  waitIdIn(executionScope, { type: "custom", key });

/** Returns the key under which the outside completes a call. */
export const completionKeyId = (call: { readonly executionScope: string; readonly name: string }): string =>
  waitIdIn(call.executionScope, { type: "tool_completion", tool_call_id: call.name });

/** Tells the host of what no model is shown. */
export const report = ({ internalError }: ToolHost, place: Place, thrown: unknown): void => {
  const { scope, tool, callId } = place;
  internalError?.(place.call, thrown, { scope, tool, callId, message: causeChain(thrown) });
};
