/**
 * A background run, executed in the scope of its process. It begins when this worker has a place for it. If its owner was lost
 * meanwhile, it is started again only where that is safe: its tool must be rerunnable; in protocol 1, idempotent or read-only.
 */
import type { CallRef, State, CommandOf } from "@pawl/sansio-core";
import {
  hasRule,
  reattachRefused,
  recoveryOf,
  type RunRow,
  requestBatch,
  runOfAttempt,
  unexpectedEnd,
} from "@pawl/sansio-core/driver";
import {
  type Json,
  type JsonObject,
  type ToolResult,
  failureOutput,
  isToolResult,
  runtimeFailure,
  isObject,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { sessionOf } from "../../host/host.ts";
import type { ToolContext } from "../../body/facet/context.ts";
import type { LiveRun } from "../../body/facet/facet.ts";
import { ToolError } from "../../error.ts";
import type { LiveTool } from "../../tool/live-tool.ts";
import type { Ephemeral } from "../../session/observe/observation.ts";
import type { ScopeAccess } from "../work.ts";
import { isExecutionResult, toolError } from "../../tool/result.ts";
import type { BackgroundHost, BackgroundOptions, RunTool } from "../host.ts";
import type { Places } from "./background.ts";
import { RunReports, type Said, outputsOf } from "./report.ts";

/** The facts about this worker and session that decide if a run may be started again. */
export interface ReattachPlace {
  readonly files: boolean;
  readonly tasks: boolean;
  readonly resolve: (tool: string) => RunTool | undefined;
  readonly isWorkerFull: boolean;
  readonly isSessionFull: boolean;
}

export interface Reattach {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly signal: boolean;
}

const declined = (message: string): E.Either<string, never> => E.left(`Tool execution error: ${message}`);

const problemOfTool = (name: string, tool: RunTool | undefined): string | undefined => {
  if (tool === undefined) return `tool '${name}' not found in built-in registry; cannot re-attach`;
  if (!tool.hasExecutor) return `tool '${name}' does not support background execution; cannot re-attach`;
  const isSafe = tool.isRerunnable === true || tool.hints.idempotent === true || tool.hints.readonly === true;
  return isSafe ? undefined : `tool '${name}' is not idempotent or readonly; re-attach declined`;
};

const workerDeferred = "worker background run limit reached; re-attach deferred";
const noPlaceYet = "worker background run limit reached; waiting for a place to go on";
const sessionDeferred = "session background run limit reached; re-attach deferred";

const fullness = ({ isWorkerFull, isSessionFull }: ReattachPlace): string | undefined =>
  isWorkerFull ? workerDeferred : isSessionFull ? sessionDeferred : undefined;

/** Decides what is run again for a task, or why nothing is. The tool's hints count as they are now, not as the task recorded them. */
export const decideReattach = (spec: Json, place: ReattachPlace): E.Either<string, Reattach> => {
  if (!place.files) return declined("file store not available; cannot re-attach background run");
  if (!place.tasks) return declined("task registry not available; cannot re-attach background run");
  const { tool, arguments: args = {}, signal_on_completion: signal } = isObject(spec) ? spec : {};
  if (typeof tool !== "string" || tool === "") {
    return declined("background_tool spec missing 'tool' field; cannot re-attach");
  }
  const problem = problemOfTool(tool, place.resolve(tool)) ?? fullness(place);
  return problem === undefined
    ? E.right({ tool, arguments: isObject(args) ? args : {}, signal: signal !== false })
    : declined(problem);
};

type Execute = CommandOf<"tool.execute">;

export interface RunPort {
  readonly scope: ScopeAccess;
  readonly places: Places;
  readonly host: BackgroundHost;
  readonly options: BackgroundOptions;
  readonly owner: string;
  readonly tool: (id: string) => LiveTool | undefined;
  /** Shows an observation to those who watch the run or its session. */
  readonly show: (observation: Ephemeral) => void;
}

/** Returns the run that a call executes: the one call that the process made for itself. Undefined for other calls. */
const runOf = ({ background, process, batches }: State, call: CallRef): RunRow | undefined => {
  const isOwn = process !== undefined && batches.at(requestBatch(process.registration.id))?.calls.includes(call);
  return isOwn === true && background.run?.phase === "running" ? background.run : undefined;
};

/** Turns "cancelled" into an error, unless the run was asked to end. */
const notCancelled = (result: ToolResult, isAsked: boolean): unknown => {
  const isCancelled = result.type === "done" && result.output.outcome.status === "cancelled";
  return isCancelled && !isAsked ? toolError(result.output.outcome.payload.message) : result;
};

/** Reads the return value of a background tool. It may only report failure: `success` and `connection_required` become errors. */
const outcomeOf = (returned: unknown, isAsked: boolean): unknown => {
  if (isToolResult(returned)) return notCancelled(returned, isAsked);
  if (!isExecutionResult(returned)) return returned;
  switch (returned.type) {
    case "success":
    case "success_with_images":
      return toolError(unexpectedEnd);
    case "connection_required":
      return toolError(`Background tool requires connection setup: ${returned.provider}`);
    default:
      return returned;
  }
};

export class Runs {
  readonly #port: RunPort;

  constructor(port: RunPort) {
    this.#port = port;
  }

  get #state(): State {
    return this.#port.scope.runner.state;
  }
  /** A lost run is known by a field, and the recovery of its tool decides. */
  get #knowsLosses(): boolean {
    return hasRule(this.#state.scope.protocol, "lost_runs");
  }
  get #id(): string {
    return this.#state.process?.registration.id ?? "";
  }

  /**
   * Waits for a place for the run. Resolves with false if it must not begin: its scope was lost, or it cannot be started again.
   * Undefined for other calls.
   */
  begins(command: Execute): Promise<boolean> | undefined {
    return runOf(this.#state, command.call) === undefined ? undefined : this.#begins(command);
  }

  async #begins(command: Execute): Promise<boolean> {
    if (!(await this.#enter(command))) return false;
    const refused = command.cause === "owner_lost" ? this.#problem(command) : undefined;
    if (refused !== undefined) await this.#refuse(command, refused);
    return refused === undefined;
  }

  /** Gives back the place of a run that has left memory; it takes one again before it goes on. */
  suspended(call: CallRef): void {
    const { places, scope } = this.#port;
    const isOfRun = runOf(this.#state, call) !== undefined;
    if (isOfRun && hasRule(scope.runner.state.scope.protocol, "suspends_every_wait")) places.giveBack(this.#id);
  }

  /** Releases the places of the process, which has ended. */
  ended(): void {
    const { places, scope } = this.#port;
    places.forget(scope.runner.id);
  }

  async #enter({ call, cause }: Execute): Promise<boolean> {
    const { places, scope } = this.#port;
    const run = this.#id;
    if (places.take(run, scope.runner.id)) return true;
    this.#detail(cause === "suspended" ? noPlaceYet : workerDeferred);
    const hasPlace = await places.queue(run, scope.runner.id);
    if (hasPlace && !scope.runner.isAbandoned && runOf(this.#state, call) !== undefined) return true;
    if (hasPlace) places.release(run, scope.runner.id);
    return false;
  }

  #detail(detail: string): void {
    const { scope } = this.#port;
    const { run } = this.#state.background;
    if (run !== undefined) scope.runner.apply({ type: "run.reported", attempt: run.attempt, detail, output: [] });
  }

  #problem({ tool_id: toolId }: Execute): string | undefined {
    const { host } = this.#port;
    const { definition } = this.#state.background.run as RunRow;
    const session = sessionOf(this.#state);
    const decided = decideReattach(definition as unknown as Json, {
      files: host.artifacts !== undefined,
      tasks: true,
      resolve: (name) => host.runTool?.(session, name) ?? this.#known(toolId),
      isWorkerFull: false,
      isSessionFull: false,
    });
    return E.isLeft(decided) ? decided.left : undefined;
  }

  #known(toolId: string): RunTool | undefined {
    const tool = this.#port.tool(toolId);
    if (tool === undefined) return undefined;
    const isRerunnable = this.#knowsLosses && recoveryOf(tool.tool) === "rerunnable";
    return { hints: tool.manifest.hints, hasExecutor: tool.background !== undefined, isRerunnable };
  }

  /** Records that the run was resumed, and then that it failed, with the reason. */
  async #refuse({ call, attempt, run, cause }: Execute, message: string): Promise<void> {
    const { runner } = this.#port.scope;
    if (cause === undefined) return;
    runner.apply({ type: "call.resumed", call, attempt, run, cause, owner: this.#port.owner });
    await runner.whenDurable();
    const output = failureOutput(runtimeFailure("unavailable", reattachRefused, message));
    const lost = this.#knowsLosses ? ({ cause: "owner_lost" } as const) : {};
    const result = { type: "done", output } as const;
    runner.apply({ type: "call.settled", call, attempt, run, result, duration_ms: 0, ...lost });
  }

  /** Runs the body of a tool. A background run gets a sink, whose last reports are recorded before the run ends. */
  async execute(tool: LiveTool, command: Execute, context: ToolContext, run: LiveRun): Promise<unknown> {
    const row = runOf(this.#state, command.call);
    if (row === undefined) return tool.execute(command.args, context);
    const { background } = tool;
    if (background === undefined) {
      throw new ToolError(`tool '${row.definition.tool}' lost background support during re-attach`);
    }
    const verdict = await tool.check(command.args);
    if (verdict.verdict === "invalid") throw new ToolError(verdict.message);
    const reports = await this.#reports(row, command, context.signal, run);
    if (command.cause === "owner_lost") await reports.status("Re-attaching");
    try {
      return outcomeOf(await background(command.args, context, reports), context.signal.aborted);
    } finally {
      reports.close();
    }
  }

  async #reports(
    { attempt, definition: { task }, title }: RunRow,
    { cause }: Execute,
    signal: AbortSignal,
    live: LiveRun,
  ): Promise<RunReports> {
    const { scope, options, show } = this.#port;
    const process = this.#id;
    const run = runOfAttempt(process, attempt);
    const isAgain = cause !== undefined && cause !== "owner_lost" && cause !== "continued";
    return new RunReports({
      platform: scope.platform,
      options,
      attempt,
      recorded: isAgain ? (await outputsOf(scope, attempt)).since : 0,
      room: () => this.#room(),
      isOver: () => live.isOver || scope.runner.isAbandoned,
      isRepeating: () => isAgain && live.isRepeating && hasRule(this.#state.scope.protocol, "suspends_every_wait"),
      shown: (said) => live.redaction?.data(said) ?? said,
      show: (said: Said) => show({ type: "run", process, run, task, title, attempt, ...said }),
      record: (report) => void scope.runner.apply({ type: "run.reported", ...report }),
      signal,
    });
  }

  #room(): number | undefined {
    const { background, scope } = this.#state;
    const { filled } = background.run ?? {};
    return filled === undefined || filled.isTruncated ? undefined : scope.options.max_output - filled.length;
  }
}
