/**
 * The host's side of a runtime: what the program around it has given it. Built once, the same for all scopes.
 *
 * The core never calls any of this. It emits a command (`tool.prepare`, `hook.run`, `host.request`, ...), the session
 * asks the host's side, and the answer comes back as an event. So everything here may be slow, fail, or be called again
 * after a crash: an answer counts from the moment that its event is in the log, and a question whose answer is not in
 * the log is asked again by the next owner of the scope.
 *
 * `tool` is read anew for every call. A tool may come, change and go while scopes are open; a call keeps the manifest
 * with which it was launched, and runs with the function that its id names when it starts.
 *
 * `Place` names a call to the host, and the key ids below name its waits.
 */
import type { CommandOf, CallRef, Options, State, Tool } from "@pawl/sansio-core";
import { type AwaitEventWaitIdentity, awaitKeyId, bodyOf, hasRule } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../error.ts";
import type { AttachmentStore } from "../journal/blob.ts";
import type { BackgroundHost, BackgroundOptions, ScopeLinksHost } from "../process/host.ts";
import { causeChain } from "../tool/result.ts";
import type { ConnectionRequest } from "./connection.ts";
import type { ExternalWork } from "./host-request.ts";
import type { Plugin } from "./hook.ts";
import type { TriggerStore } from "./trigger.ts";
import type { OutcomeResolver, Projector } from "./outcome.ts";
import type { Roots } from "../scope/wait-token.ts";
import type { FlowHost } from "../session/flow.ts";
import type { CodeVersions } from "../tool/version.ts";
import type { LiveTool } from "../tool/live-tool.ts";
import type { TurnHost } from "../turn/port.ts";

/** Details of an error that no model is shown, for the log. */
export interface InternalErrorDetail {
  readonly scope: string;
  readonly tool: string;
  readonly callId: string;
  /** Includes the messages of its causes. */
  readonly message: string;
  /** The effect that failed with it: `step train`. */
  readonly effect?: string;
}

/** The unabridged output of a call: an artifact, which no model sees. */
export interface RawOutput {
  readonly scope: string;
  readonly call: string;
  readonly tool: string;
  readonly text: string;
}

/** The failure of a step or another effect that nobody looked at. */
export interface UnheardFailure {
  readonly scope: string;
  readonly call: string;
  readonly tool: string;
  readonly effect: string;
  readonly code: string;
  readonly message: string;
}

export interface ToolHost {
  /** The turn's context and its plugins' input, for preparations and hooks. */
  readonly turn?: (scope: string, request: string) => Promise<Json>;
  /** The session as the host sees it. */
  readonly snapshot?: (scope: string) => Promise<Json>;
  /** Reports an error that no model is shown. */
  readonly internalError?: (call: string, thrown: unknown, detail?: InternalErrorDetail) => void;
  /** Reports the failure of an effect that the body of its call never looked at. */
  readonly unheard?: (failure: UnheardFailure) => void;
  readonly rawOutput?: (output: RawOutput) => Promise<void>;
  /** A call is parked until `session.connect` answers; told again whenever the scope is opened. */
  readonly connectionRequired?: (request: ConnectionRequest) => void;
  /** Asked in this order before and after each call. */
  readonly plugins?: readonly Plugin[];
  readonly project?: Projector;
  /** Without one a call of unknown outcome ends as that. */
  readonly resolveOutcome?: OutcomeResolver;
  /** Tried until it does not throw. Without it nobody has outside work to end. */
  readonly cancelExternal?: (work: ExternalWork) => Promise<void>;
  /** Without one bytes are kept in memory; beside the journal where `openRuntime` or `openTab` opened it. */
  readonly attachments?: AttachmentStore;
}

/** The call that asks the host for something. */
export interface HostAsked {
  readonly scope: string;
  /** The session that it is for: of a process, the one that started it. */
  readonly session: string;
  readonly request: string;
  readonly call: string;
  /** The name that whoever made the call gave it, as a model does. */
  readonly label: string;
  readonly tool: string;
  /** Tells that a person is asked. A plugin's request has no body that waits: nothing comes of it there. */
  readonly waiting: () => void;
}

const nothing = (): void => undefined;

export const hostAsked = (
  { scope, session, request, call, callId: label, tool }: Place,
  waiting: HostAsked["waiting"] = nothing,
): HostAsked => ({ scope, session, request, call, label, tool, waiting });

/** All that a host fills in. */
export interface HostPort extends ScopeLinksHost, ToolHost, TurnHost {
  /**
   * Answers a host request; what it throws is the body's error. It says `waiting` when it asks a person: the body and its
   * session may leave memory until the answer comes, and after a restart the request comes again, under the same key. A key
   * is unique over all scopes of the journal; one of a call that began under protocol 1, in its scope.
   */
  readonly request?: (name: string, input: Json, key: string, asked: HostAsked) => Promise<Json>;
  /** Keeps triggers (`recordedTriggers` has no store). Without it they are requests `trigger.emit`. */
  readonly triggers?: TriggerStore;
  readonly observe?: (scope: string, command: CommandOf<"observe">) => void;
  /** Serves its flows: lambdas, and an observer of them. */
  readonly flow?: FlowHost;
  /** Reports what is wrong with the store or its contents, and was worked around. */
  readonly fault?: (what: string, thrown: unknown) => void;
}

export interface HostSide {
  /** Functions and plugins that the host has filled in. */
  readonly host: HostPort;
  /** Returns the tool that has this id now. */
  readonly tool: (id: string) => LiveTool | undefined;
  /** Lists the tools that sub-agents may have: those of the runtime. */
  readonly tools: () => readonly Tool[];
  /** Which versions of tools are here. */
  readonly versions: CodeVersions;
  readonly attachments: AttachmentStore;
  /** How background runs are run here. */
  readonly background: BackgroundOptions;
  /** Roots of the secrets under which wait keys are signed for the outside. */
  readonly roots: Roots;
  /** Where the outside resolves waits over HTTP: a token behind `url` is the address of a wait. */
  readonly waits: { readonly url?: string | undefined };
}

/** Lists the questions of the core that this host has an answer to. */
export const answersOf = ({
  plugins = [],
  project,
  resolveOutcome,
  probe,
  checkTurn,
  resolveModel,
}: ToolHost & TurnHost & Pick<BackgroundHost, "probe">): Partial<Options> => ({
  before_hook: plugins.some(({ beforeToolCall }) => beforeToolCall !== undefined),
  after_hook: plugins.some(({ afterToolCall }) => afterToolCall !== undefined),
  projection: project !== undefined,
  resolver: resolveOutcome !== undefined,
  probes: probe !== undefined,
  turn_check: checkTurn !== undefined,
  model_resolver: resolveModel !== undefined,
});

/** The place of a call, as hosts, hooks and logs are told it. */
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
  /** Begins the keys of its requests to the host. Empty where they were handed out without their scope before. */
  readonly keyPrefix: string;
}

const sessionPrefix = "session:";

/** Returns the session of a scope: that of a process without one is the scope itself. */
export const sessionOf = ({ scope: { id }, process }: State): string => {
  if (id.startsWith(sessionPrefix)) return id.slice(sessionPrefix.length);
  const originator = process?.registration.provenance.originator;
  return originator?.type === "session" ? originator.scope.session_id : id;
};

/** Returns the execution scope of a request: its host's, or its own. */
export const executionScopeIn = ({ requests, scope }: State, request: string): string =>
  requests.at(request)?.executionScope ?? `${scope.id}/${request}`;

export const placeOf = (state: State, call: CallRef): Place => {
  const row = state.calls.at(call);
  const { id = call, request = "", replay } = row?.call ?? {};
  const isOld = !hasRule(state.scope.protocol, "lives") || (row && bodyOf(row)?.life.upgradedIn) !== undefined;
  return {
    scope: state.scope.id,
    session: sessionOf(state),
    request,
    call,
    callId: id,
    tool: row?.tool ?? "",
    args: row?.args ?? null,
    keyPrefix: isOld ? "" : `${state.scope.id}/`,
    ...(replay === undefined ? {} : { replay }),
  };
};

/** Returns the id of a wait of an execution scope, or of a call that stands for one. */
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

/** Reports to the host the failures of effects that the body of a call never looked at. */
export const reportUnheard = (
  { unheard }: ToolHost,
  { scope, call, tool }: Place,
  failures: readonly Pick<UnheardFailure, "effect" | "code" | "message">[],
): void => {
  for (const failure of failures) unheard?.({ scope, call, tool, ...failure });
};

/** Reports to the host an error that no model is shown. */
export const report = ({ internalError }: ToolHost, place: Place, thrown: unknown, key?: string): void => {
  const { scope, tool, callId } = place;
  const effect = key === undefined ? {} : { effect: key.replace(/^durable-(?=step:)/, "").replace(":", " ") };
  internalError?.(place.call, thrown, { scope, tool, callId, ...effect, message: causeChain(thrown) });
};
