/** Runs that lost their owner, in a session of a runtime: whether they start again, and their state after that. */
import type { Json, JsonObject } from "@pawl/tool-value";
import { type ToolDefinition, defineTool } from "@pawl/runtime";
import { decideReattach } from "@pawl/runtime/driver";
import { type Target, defaultRegistry, sessionTools } from "@pawl/tools";
import { type Adapters, caseProtocol, withFields } from "@pawl/testkit";
import * as E from "fp-ts/lib/Either.js";
import type { Process } from "../../../runtime/test/world.ts";
import { ToolWorld } from "../session/world.ts";
import { type Result, checked, number, object } from "./input.ts";
import { target } from "./spawn.ts";

interface Begun {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly signal: boolean;
}

/** A host with a tool that never ends. It dies with its run until the next attempt is this one. */
class LostWorld extends ToolWorld {
  #given: Json | undefined;

  #tool({ tool: name }: Begun, hints: Target["hints"]): ToolDefinition {
    const background = async (args: Json): Promise<never> => {
      this.#given = args;
      return new Promise(() => undefined);
    };
    return defineTool({
      name,
      manifest: { hints: { ...hints, supports_background: true } },
      execute: async () => null,
      background,
    });
  }

  async #life(tool: ToolDefinition, attempt: number): Promise<Process> {
    const { tools, host } = sessionTools({ files: () => this.files, tools: [tool] });
    const process = this.start(tools, { host, options: { maxRunAttempts: Math.max(3, attempt) } });
    await process.runtime.recover();
    await this.#pass();
    return process;
  }

  /** Waits until everything is durable. */
  async #pass(): Promise<void> {
    for (let i = 0; i < 6; i++) {
      await this.quiet(20);
      this.platform.advance(1000);
    }
  }

  async reattach(of: Begun, hints: Target["hints"], attempt: number): Promise<JsonObject> {
    const tool = this.#tool(of, hints);
    let process = await this.#life(tool, attempt);
    const spawned = await process.runtime.background.spawn("s", {
      tool: of.tool,
      args: of.arguments,
      signal: of.signal,
    });
    if (spawned.status === "refused") throw new Error(spawned.message);
    await this.#pass();
    for (let life = 1; life < attempt; life++) {
      process.kill();
      process = await this.#life(tool, attempt);
    }
    const task = await process.runtime.background.of("s").task(spawned.task);
    return {
      arguments: this.#given ?? null,
      signal_on_completion: object(task?.spec)["signal_on_completion"] ?? null,
      first_status: task?.state_detail ?? null,
      heartbeat_expected_attempt: task?.attempt ?? null,
      new_run_id: task?.links.resource_ids.every((run) => run !== spawned.run) ?? null,
    };
  }
}

const ofDefaults = (name: string): Target | undefined => {
  const tool = defaultRegistry().get(name);
  return tool === undefined ? undefined : { name, hints: tool.hints ?? {}, hasExecutor: false };
};

const ofCase =
  (known: JsonObject) =>
  (name: string): Target | undefined => {
    const found = Object.hasOwn(known, name) ? object(known[name]) : undefined;
    return found && target(name, object(found["hints"]), found["background"] === true);
  };

const reattached = async (input: JsonObject): Promise<Result> => {
  const { resolver, task, active_session_runs, active_worker_runs } = input;
  const resolve = typeof resolver === "object" && resolver !== null ? ofCase(object(resolver)) : ofDefaults;
  const decided = decideReattach(input["spec"] ?? object(task)["spec"] ?? {}, {
    files: input["file_store"] !== null,
    tasks: input["task_registry"] !== null,
    resolve,
    isWorkerFull: number(active_worker_runs) >= 64,
    isSessionFull: number(active_session_runs) >= 5,
  });
  if (E.isLeft(decided)) return checked(decided);
  const { attempt = 2 } = object(task);
  return E.right(
    await new LostWorld(caseProtocol()).reattach(
      decided.right,
      resolve(decided.right.tool)?.hints ?? {},
      number(attempt),
    ),
  );
};

export const reattachAdapters: Adapters = {
  "tools.reattach": withFields(
    ["spec", "task", "resolver", "file_store", "task_registry", "active_session_runs", "active_worker_runs"],
    reattached,
  ),
};
