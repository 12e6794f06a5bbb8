/** What a scope does for processes, and with other scopes: performs what the core asks of it. */
import type { Command, Tool } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import type { Access } from "../scope/access.ts";
import { type LongWork, type LongWorkCommand } from "./run/long-work.ts";
import type { Runs } from "./run/run.ts";
import { type EngineRuns, failedTool } from "./engine.ts";
import { textOf } from "../error.ts";
import { type Wake, deliverWake } from "./wake.ts";
import { problemOfEvent } from "../scope/round-trip.ts";
import type { Watch } from "./watch.ts";

type Of<T extends Command["type"]> = Extract<Command, { readonly type: T }>;
export type ProcessCommand =
  | LongWorkCommand
  | Of<
      | "send"
      | "message.answer"
      | "wake.deliver"
      | "env.load"
      | "engine.run"
      | "engine.cancel"
      | "process.observe"
      | "deletion.report"
    >;

/** A scope, as those see it who work for its processes. */
export interface ScopeAccess extends Access {
  /** Says to the host what went wrong inside. */
  readonly report: (what: string, thrown: unknown) => void;
}

/** What a host fills in for processes. */
export interface ProcessHost {
  /** Takes a wake; it has it when the promise resolves. One that it had is told again after a crash. */
  readonly wake?: (wake: Wake) => Promise<void>;
  readonly observeProcess?: (scope: string, command: Of<"process.observe">) => void;
  /** What calls run in, as it is captured for processes that they start: `plugin_options` and `policy`. */
  readonly environmentSpec?: () => Json;
  /** The tools of a captured environment, or undefined for one that is not known; without it all that the runtime has. */
  readonly environment?: (envRef: string) => Promise<readonly Tool[] | undefined>;
  /** A body says that it has started a process for a call. */
  readonly childStarted?: (call: string, processId: string, entryName: string | undefined) => void;
}

export interface ProcessWorkPort {
  readonly scope: ScopeAccess;
  readonly engines: EngineRuns;
  readonly watch: Watch;
  readonly longWork: LongWork;
  readonly runs: Runs;
  readonly host: ProcessHost;
}

export class ProcessWork {
  readonly #port: ProcessWorkPort;

  constructor(port: ProcessWorkPort) {
    this.#port = port;
  }

  async perform(command: ProcessCommand): Promise<void> {
    const { engines, watch, longWork } = this.#port;
    switch (command.type) {
      case "send":
      case "message.answer":
        return; // It went out with its event, as a letter.
      case "wake.deliver":
        return this.#wake(command);
      case "env.load":
        return this.#load(command);
      case "engine.run":
        return engines.run();
      case "engine.cancel":
        return engines.cancel();
      case "process.observe":
        this.#observe(command);
        return watch.look();
      case "deletion.report":
        return watch.look();
      default:
        return longWork.perform(command);
    }
  }

  async #wake(command: Of<"wake.deliver">): Promise<void> {
    const { scope, host } = this.#port;
    if (host.wake !== undefined) await deliverWake(scope, command, host.wake);
  }

  #observe(command: Of<"process.observe">): void {
    const { scope, host, runs } = this.#port;
    if (command.what === "ended") runs.ended();
    try {
      host.observeProcess?.(scope.runner.id, command);
    } catch (thrown) {
      scope.report(`an observer of ${scope.runner.id}`, thrown);
    }
  }

  async #load({ env_ref: envRef }: Of<"env.load">): Promise<void> {
    const { scope, engines } = this.#port;
    const tools = await this.#toolsOf(envRef);
    if (scope.runner.isAbandoned || scope.runner.state.process?.run !== "env") return;
    if (typeof tools === "string") return engines.complete(failedTool(tools));
    scope.runner.apply({ type: "catalog.published", tools });
  }

  /** The tools; or why there are none. */
  async #toolsOf(envRef: string): Promise<readonly Tool[] | string> {
    const { scope, host } = this.#port;
    try {
      const tools = await host.environment?.(envRef);
      if (tools === undefined || tools.length === 0) return `environment \`${envRef}\` is not known here`;
      const problem = problemOfEvent({ type: "catalog.published", tools });
      return problem === undefined ? tools : `environment \`${envRef}\` does not fit: ${problem}`;
    } catch (thrown) {
      scope.report(`environment ${envRef}`, thrown);
      return `environment \`${envRef}\` could not be loaded: ${textOf(thrown)}`;
    }
  }
}
