/** One run of a tool: the facts that its context is made from, its execution, and the outcome that is recorded of it. */
import type { CommandOf, EventOf } from "@pawl/sansio-core";
import { attemptInLife, bodyOf, firstLife, hasRule, inLife, replayBase, toolReplayKey } from "@pawl/sansio-core/driver";
import {
  type PendingCompletion,
  type ToolResult,
  failureOutput,
  pendingWithoutKey,
  runtimeFailure,
} from "@pawl/tool-value";
import type { AttachmentStore } from "../journal/blob.ts";
import type { BodyRun } from "./body-run.ts";
import {
  type HostSide,
  type Place,
  type ToolHost,
  completionKeyId,
  executionScopeIn,
  placeOf,
  report,
  sessionOf,
} from "../host/host.ts";
import { subAgentId } from "../process/registration.ts";
import { cancelledOutcome, isAbortError } from "./stop.ts";
import { Failures } from "./facet/durable.ts";
import type { CallFacts, KeyScope, ProcessApi } from "./facet/facet.ts";
import { hookedCall } from "../host/hook.ts";
import { contextOf } from "../host/prepare.ts";
import type { ScopeRunner } from "../scope/runner.ts";
import { type KeyOwner, scopedTokenOf, tokenOf } from "../scope/wait-token.ts";
import type { Ephemeral } from "../session/observe/observation.ts";
import { Producer } from "../stream/producer.ts";
import type { ScopeStreams } from "../stream/streams.ts";
import type { Observers } from "../session/observe/observer.ts";
import { EffectError, ToolError } from "../error.ts";
import { unanswered } from "../host/connection.ts";
import { type Ending, endingOf, hidden, resultOfThrown } from "../host/outcome.ts";

/** The parts of a scope that the context of a call works with. */
export interface ScopeOfCall {
  readonly runner: ScopeRunner;
  readonly observers: Observers;
  readonly processApi: ProcessApi;
  readonly streams: ScopeStreams;
}

/** Collects the facts of a call for the context of its body. */
export const callFacts = (
  { host, tool: toolOf, roots, attachments, waits }: HostSide,
  { runner, observers, processApi, streams }: ScopeOfCall,
  { call, run, tool, max_attempts: maxAttempts, payload }: CommandOf<"tool.execute">,
  verbs: Pick<CallFacts, "handOut" | "continueAs" | "secret">,
): CallFacts => {
  const { state } = runner;
  const { id: scope } = state.scope;
  const { name = call, id = call, request = "" } = state.calls.at(call)?.call ?? {};
  const executionScope = executionScopeIn(state, request);
  const row = state.calls.at(call);
  const { attempt, life } = (row && bodyOf(row)) ?? { attempt: 1, life: firstLife };
  const callBase = replayBase(executionScope, name);
  const named = (key: string): string => inLife(life.number, key);
  const isNew = hasRule(state.scope.protocol, "lives") && life.upgradedIn === undefined;
  const ownerOf = (whose: KeyScope): KeyOwner | undefined =>
    isNew && whose !== "request" ? { call, ...(whose === "life" ? { life: life.number } : {}) } : undefined;
  const place = (): Place => placeOf(runner.state, call);
  const emit = (observation: Ephemeral): void => observers.tell(observation, runner);
  return {
    ...verbs,
    scope,
    session: sessionOf(state),
    callId: id,
    capabilities: { callId: id, isDurable: true, process: scope.startsWith("process:") ? scope : undefined },
    attempt: attemptInLife({ attempt, life }),
    maxAttempts,
    replayKey: named(toolReplayKey(`${scope}/${request}`, name, tool)),
    base: named(callBase),
    life: { number: life.number, callBase, signals: life.signals, named },
    executionScope,
    name,
    payload,
    keepsValues: hasRule(state.scope.protocol, "kept_values") && life.upgradedIn === undefined,
    subAgentId: named(subAgentId(scope, request, name)),
    place: named(`${scope.replace(/^session:/, "")}/${request}/${name}`),
    processApi,
    token: (key, whose) => (isNew ? scopedTokenOf : tokenOf)(roots, scope, key, ownerOf(whose)),
    urlOf: (token) => (isNew && waits.url !== undefined ? `${waits.url}${token}` : undefined),
    preparing: (callId, toolName) =>
      contextOf({ host, tool: toolOf }, runner.state, { ...place(), callId, tool: toolName }),
    hooked: (nested) => hookedCall({ host, emit }, place(), nested),
    report: (thrown) => report(host, place(), thrown),
    failures: new Failures(),
    attachments,
    producer: (stream) => new Producer(runner, streams, { call, run }, stream),
    progress: ({ message: text, kind = "status", ...of }) =>
      emit({ type: "progress", call, tool, label: id, text, kind, ...of }),
  };
};

export interface RunPort {
  readonly host: ToolHost;
  readonly attachments: AttachmentStore;
}

/** Stores the raw output before the outcome. Without a host that makes connections, one that is required is the result. */
const completed = async ({ host }: RunPort, place: Place, ending: Ending): Promise<Ending> => {
  if (ending.type === "connection") {
    const isAnswered = host.connectionRequired !== undefined;
    return isAnswered ? ending : { type: "result", result: unanswered(ending.provider) };
  }
  if (ending.rawOutput !== undefined) await host.rawOutput?.({ ...place, text: ending.rawOutput });
  return ending;
};

type BodyResult = EventOf<"call.settled">["result"];

/**
 * Returns the result as it is recorded. Nobody could complete a pending call whose body never asked for its key, so that
 * is a failure. Only a first run can tell: a later one may have handed the key out in a step that the log answers.
 */
export const bodyResult = (body: BodyRun, facts: CallFacts, result: ToolResult): BodyResult => {
  if (result.type === "done") return result;
  const { attempt, run } = body.id;
  const isKeyless = attempt === 1 && run === 1 && !body.hasCompletionKey;
  return isKeyless ? { type: "done", output: failureOutput(pendingWithoutKey) } : pendingOn(facts, result.pending);
};

/** Parks the call on its completion key. Where no key can be made, nobody could complete it: that is a failure. */
const pendingOn = (facts: CallFacts, pending: PendingCompletion): BodyResult => {
  try {
    return { type: "pending", key: completionKeyId(facts), pending };
  } catch (thrown) {
    if (!(thrown instanceof EffectError)) throw thrown;
    const message = `${thrown.code}: ${thrown.message}`;
    const failure = runtimeFailure("internal", "pending_tool_completion_key_failed", message);
    return { type: "done", output: failureOutput(failure) };
  }
};

/** Returns what a body threw, as models and logs may read it. */
const shownError = ({ redaction }: Pick<BodyRun, "redaction">, thrown: unknown): unknown => {
  if (redaction === undefined) return thrown;
  return thrown instanceof ToolError ? new ToolError(redaction.text(thrown.message)) : redaction.thrown(thrown);
};

/**
 * Runs the tool. The outcome of a run that is over meanwhile is neither stored nor reported. Once its signal is aborted,
 * what a body throws is the cancel: libraries stop with errors of their own. A `ToolError` stays what it is.
 */
export const runTool = async (
  port: RunPort,
  place: Place,
  execute: () => Promise<unknown>,
  body: Pick<BodyRun, "isOver" | "signals" | "redaction">,
  failures: Failures,
): Promise<Ending> => {
  try {
    const ended = await endingOf(await execute(), port.attachments);
    const ending = body.redaction?.data(ended) ?? ended;
    return body.isOver ? ending : await completed(port, place, ending);
  } catch (error) {
    const { isAborted } = body.signals;
    const thrown = shownError(body, error);
    const told = resultOfThrown(thrown);
    const isSilent = told !== undefined || body.isOver || (isAborted && isAbortError(error));
    if (!isSilent) report(port.host, place, thrown, failures.effectOf(error));
    return { type: "result", result: told ?? (isAborted ? cancelledOutcome : hidden) };
  }
};
