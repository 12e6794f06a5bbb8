/**
 * Engines run processes that are not calls of tools. One run at a time; the process is run again, on this host or another,
 * until its end is on record.
 */
import {
  ProcessAwaitOutput,
  type ProcessEvent,
  type ProcessEventAppendRequest,
  type ProcessRecord,
  completionRequest,
  processOfScope,
  recordOf,
} from "@pawl/sansio-core/driver";
import { describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError, Refused, ScopeLost, textOf } from "../error.ts";
import { appendProcessEvent } from "./log.ts";
import type { ScopeAccess } from "./work.ts";

/** The tools of one run of an engine. */
export interface EngineRun {
  /** Aborts when the process is asked to end, or when its scope is lost; after a loss nothing of this run is recorded. */
  readonly signal: AbortSignal;
  /** Appends an event. One with a replay key is appended once, however often the engine runs. */
  readonly append: (request: ProcessEventAppendRequest) => Promise<ProcessEvent>;
}

/** Runs processes of one kind. It may run a process again after the process lost its owner. */
export interface Engine {
  readonly run: (process: ProcessRecord, run: EngineRun) => Promise<ProcessAwaitOutput>;
}
export type Engines = Readonly<Record<string, Engine>>;

const failure = (code: string, message: string, of: "execution" | "internal" = "execution"): ProcessAwaitOutput => ({
  type: "failure",
  class: of,
  code,
  message: message.toWellFormed(),
});

const failedRun = (message: string): ProcessAwaitOutput => failure("process_recovery_failed", message);

/** Returns the end of a process whose tool could not be prepared. */
export const failedTool = (message: string): ProcessAwaitOutput => failure("process_tool_failed", message, "internal");

const kindOf = ({ input }: ProcessRecord): string => (input.type === "engine" ? input.kind : input.type);

const asOutput = (returned: unknown): ProcessAwaitOutput => {
  const output = read(ProcessAwaitOutput, returned);
  return E.isRight(output) ? output.right : failedRun(`the engine returned no output: ${describe(output.left)}`);
};

export class EngineRuns {
  readonly #scope: ScopeAccess;
  readonly #engines: Engines;
  #running: AbortController | undefined;

  constructor(scope: ScopeAccess, engines: Engines) {
    this.#scope = scope;
    this.#engines = engines;
  }

  /** Runs the process of the scope, unless it is running here already or has ended. */
  async run(): Promise<void> {
    const row = this.#scope.runner.state.process;
    if (this.#running !== undefined || row === undefined || row.status.state !== "running") return;
    const abort = new AbortController();
    this.#running = abort;
    const output = await this.#outputOf(recordOf(row), abort.signal);
    this.#running = undefined;
    if (!this.#scope.runner.isAbandoned) await this.complete(output);
  }

  async #outputOf(process: ProcessRecord, signal: AbortSignal): Promise<ProcessAwaitOutput> {
    const kind = kindOf(process);
    const engine = Object.hasOwn(this.#engines, kind) ? this.#engines[kind] : undefined;
    if (engine === undefined) return failure("process_engine_missing", `no engine runs processes of kind \`${kind}\``);
    try {
      const append = (request: ProcessEventAppendRequest): Promise<ProcessEvent> =>
        appendProcessEvent(this.#scope, request);
      return asOutput(await engine.run(process, { signal, append }));
    } catch (thrown) {
      return failedRun(textOf(thrown));
    }
  }

  /** Records the end of the process. An end that is already on record stays; one that is refused becomes a failure. */
  async complete(output: ProcessAwaitOutput): Promise<void> {
    const problem = await this.#end(output);
    if (problem === undefined) return;
    this.#scope.report(`the end of ${this.#scope.runner.id}`, problem);
    const again = await this.#end(failedRun(problem.message));
    if (again !== undefined) throw again;
  }

  async #end(output: ProcessAwaitOutput): Promise<Refused | undefined> {
    try {
      await appendProcessEvent(this.#scope, completionRequest(processOfScope(this.#scope.runner.id), output));
    } catch (thrown) {
      if (thrown instanceof ScopeLost) return undefined;
      if (!(thrown instanceof Refused)) throw thrown;
      return this.#scope.runner.state.process?.status.state === "running" ? thrown : undefined;
    }
    return undefined;
  }

  /** Aborts the run: the process was asked to end. Its output is still recorded. */
  cancel(): void {
    this.#running?.abort(new EffectError("cancelled", "the process was asked to end"));
  }

  /** Aborts the run: the scope is lost. Its output is ignored. */
  abandon(): void {
    this.#running?.abort(new ScopeLost(`scope ${this.#scope.runner.id} was lost`));
  }
}
