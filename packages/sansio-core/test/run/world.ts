/** A session that asks for background runs, and the scope of one of them. */
import { type Json, type ToolCallOutput, failureOutput, toolFailure } from "@pawl/tool-value";
import { bodyOf } from "../../src/call/row.ts";
import { registrationHash } from "../../src/process/hash.ts";
import type { Permit, RunRow } from "../../src/run/model.ts";
import type { Tool } from "../../src/catalog/model.ts";
import type { Task } from "../../src/message/task.ts";
import type { Event } from "../../src/kernel/vocabulary.ts";
import type { Options } from "../../src/kernel/options.ts";
import type { ProcessRegistration } from "../../src/process/model.ts";
import { checkRegistration } from "../../src/process/registration.ts";
import { World } from "../link/world.ts";
import { registration, right } from "../process/world.ts";
import { tool } from "../rig.ts";
import { success } from "../scenario/words.ts";

export const session = "session:s";
export const runName = "bg_00000000000000000000000000000001";
export const home = `process:${runName}`;

interface Asked {
  readonly run?: string;
  readonly task?: string;
  readonly reattachable?: boolean;
  readonly signal?: boolean;
}

const call = { call_id: "c", tool_id: "tool:work", tool_name: "work", args: { n: 1 }, prepared_payload: null };

export const runOf = ({ run = runName, task = "task_1", reattachable = true, signal = true }: Asked = {}): {
  readonly registration: ProcessRegistration;
  readonly hash: string;
} => {
  const definition = { task, tool: "work", arguments: { n: 1 }, reattachable, signal_on_completion: signal };
  const of = registration([], {
    id: run,
    env_ref: "process-env:sha256:0",
    identity: { kind: "background_tool", label: "Job", definition },
    input: { type: "tool_call", call },
  });
  return { registration: of, hash: registrationHash(right(checkRegistration(of))) };
};

export const granted: Permit = { status: "granted" };

export class Runs extends World {
  constructor(options: Partial<Options> = {}, protocol?: number, more: Partial<Tool> = {}) {
    super();
    const pauses = protocol === 1 ? { resume_pauses_ms: Array.from({ length: 20 }, () => 0) } : {};
    const patient = { ...pauses, ...options };
    this.open(session, [tool("echo")], patient, protocol).open(home, [tool("work", more)], patient, protocol);
  }

  /** A run is asked for, and may begin. */
  spawn(asked: Asked = {}, permit: Permit = granted): this {
    this.tell(session, { type: "run.requested", ...runOf(asked) });
    return this.tell(session, { type: "permit.answered", run: asked.run ?? runName, permit });
  }

  get task(): Task {
    const row = this.state(session).background.tasks.get("task_1");
    if (row === undefined) throw new Error("no task_1");
    return row.task;
  }
  get run(): RunRow {
    const { run } = this.state(home).background;
    if (run === undefined) throw new Error("no run");
    return run;
  }

  report(more: Partial<Extract<Event, { readonly type: "run.reported" }>> = {}): Event {
    return { type: "run.reported", attempt: this.run.attempt, output: [], ...more };
  }

  /** The run's call ends, and its files are written, or are not. */
  end(output: ToolCallOutput, written = true, lost: { readonly cause?: "owner_lost" } = {}): this {
    const ref = `${runName}:c`;
    const row = this.state(home).calls.at(ref);
    const run = row === undefined ? 1 : (bodyOf(row)?.run ?? 1);
    const result = { type: "done", output } as const;
    this.tell(home, { type: "call.settled", call: ref, attempt: 1, run, result, duration_ms: 1, ...lost });
    return this.written(written);
  }
  written(written = true): this {
    return this.tell(home, { type: "artifacts.written", attempt: this.run.attempt, written }).deliver();
  }

  resume(): this {
    const of = { call: `${runName}:c`, attempt: 1, run: 2 + this.run.attempt - 2, cause: "owner_lost" } as const;
    return this.tell(home, { type: "call.resumed", ...of, owner: "d2" });
  }

  /** All that the session was told. */
  get told(): readonly string[] {
    return this.gave(session, "session.tell").map(({ text }) => text);
  }
}

export const toolError = (message: string): ToolCallOutput =>
  failureOutput(toolFailure("execution", "tool_error", message));
export const outcome = (summary: string, result: Json, raw?: string): ToolCallOutput =>
  success({ summary, result, ...(raw === undefined ? {} : { raw_output: raw }) });
