/** A background run in the scope of its process: it begins when there is a place, and its tool is given a sink. */
import type { Command, CallRef, State } from "@pawl/sansio-core";
import { reattachRefused, type RunRow, requestBatch, runOfAttempt, unexpectedEnd } from "@pawl/sansio-core/driver";
import { type Json, type ToolResult, failureOutput, isToolResult, runtimeFailure } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { sessionOf } from "../../host/call-place.ts";
import type { ToolContext } from "../../body/facet/context.ts";
import { ToolError } from "../../error.ts";
import type { LiveTool } from "../../tool/live-tool.ts";
import type { Ephemeral } from "../../session/observe/observation.ts";
import type { ScopeAccess } from "../work.ts";
import { isExecutionResult, toolError } from "../../tool/result.ts";
import { outputsOf } from "./artifact.ts";
import type { BackgroundHost, BackgroundOptions, RunTool } from "./host.ts";
import type { Places } from "./place.ts";
import { decideReattach, workerDeferred } from "./reattach.ts";
import { RunReports, type Said } from "./report.ts";

type Execute = Extract<Command, { readonly type: "tool.execute" }>;

export interface RunPort {
  readonly scope: ScopeAccess;
  readonly places: Places;
  readonly host: BackgroundHost;
  readonly options: BackgroundOptions;
  readonly owner: string;
  readonly tool: (id: string) => LiveTool | undefined;
  /** Shows it to whoever watches the run, or its session. */
  readonly show: (observation: Ephemeral) => void;
}

/** The run that a call is, where it is one: the only call of its process that nobody else made. */
const runOf = ({ background, process, batches }: State, call: CallRef): RunRow | undefined => {
  const isOwn = process !== undefined && batches.at(requestBatch(process.registration.id))?.calls.includes(call);
  return isOwn === true && background.run?.phase === "running" ? background.run : undefined;
};

/** Whether a run was asked to end is on record: one that says so of itself has failed. */
const notCancelled = (result: ToolResult, isAsked: boolean): unknown => {
  const isCancelled = result.type === "done" && result.output.outcome.status === "cancelled";
  return isCancelled && !isAsked ? toolError(result.output.outcome.payload.message) : result;
};

/** A run that says that it failed; nobody connects anything for it, and a success that it says so is none. */
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
  get #id(): string {
    return this.#state.process?.registration.id ?? "";
  }

  /** Whether a run begins, once there is a place for it, and if it still may after a loss; undefined for other calls. */
  begins(command: Execute): Promise<boolean> | undefined {
    return runOf(this.#state, command.call) === undefined ? undefined : this.#begins(command);
  }

  async #begins(command: Execute): Promise<boolean> {
    if (!(await this.#enter(command.call))) return false;
    const refused = command.cause === "owner_lost" ? this.#problem(command) : undefined;
    if (refused !== undefined) await this.#refuse(command, refused);
    return refused === undefined;
  }

  /** The process has ended: its place is free. */
  ended(): void {
    const { places, scope } = this.#port;
    places.forget(scope.runner.id);
  }

  async #enter(call: CallRef): Promise<boolean> {
    const { places, scope } = this.#port;
    const run = this.#id;
    if (places.take(run, scope.runner.id)) return true;
    this.#detail(workerDeferred);
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
    return tool && { hints: tool.manifest.hints, hasExecutor: tool.background !== undefined };
  }

  /** It is on record that it was tried, and why nothing came of it. */
  async #refuse({ call, attempt, run, cause }: Execute, message: string): Promise<void> {
    const { runner } = this.#port.scope;
    if (cause === undefined) return;
    runner.apply({ type: "call.resumed", call, attempt, run, cause, owner: this.#port.owner });
    await runner.whenDurable();
    const output = failureOutput(runtimeFailure("unavailable", reattachRefused, message));
    const result = { type: "done", output } as const;
    runner.apply({ type: "call.settled", call, attempt, run, result, duration_ms: 0 });
  }

  /** Runs a tool's body; as a background run with a sink, of which the last word is recorded before its end. */
  async execute(tool: LiveTool, command: Execute, context: ToolContext, isOver: () => boolean): Promise<unknown> {
    const row = runOf(this.#state, command.call);
    if (row === undefined) return tool.execute(command.args, context);
    const { background } = tool;
    if (background === undefined) {
      throw new ToolError(`tool '${row.definition.tool}' lost background support during re-attach`);
    }
    const verdict = await tool.check(command.args);
    if (verdict.verdict === "invalid") throw new ToolError(verdict.message);
    const reports = await this.#reports(row, command, context.signal, isOver);
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
    isOver: () => boolean,
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
      isOver: () => isOver() || scope.runner.isAbandoned,
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
