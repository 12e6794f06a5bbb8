/** A host with files, an ear and a calendar that outlive its processes, and tools that run in the background. */
import type { Plan, Task } from "@pawl/sansio-core/driver";
import {
  type HostPort,
  type RuntimeOptions,
  type SessionMessage,
  type ToolContext,
  type ToolDefinition,
  defineTool,
} from "../../src/index.ts";
import { type RunFiles } from "../../src/driver.ts";
import type { BackgroundSink } from "../../src/driver.ts";
import { type Death, type Process, World } from "../world.ts";

export type Body = (ctx: ToolContext, sink: BackgroundSink) => Promise<unknown>;

/** A tool whose background body is this. */
export const runner = (name: string, background: Body, more: Partial<ToolDefinition> = {}): ToolDefinition =>
  defineTool({
    name,
    idempotent: true,
    ...more,
    execute: async () => "not here",
    background: (_, ctx, sink) => background(ctx, sink),
  });

export const finished = (summary: string, result: unknown = summary): unknown => ({ summary, result });

export class Outside {
  readonly files = new Map<string, string>();
  readonly heard: SessionMessage[] = [];
  readonly errors: string[] = [];
  readonly host: HostPort = {
    artifacts: async ({ log, result }: RunFiles) => {
      for (const { path, text } of [log, result]) this.files.set(path, text);
    },
    tell: async (message: SessionMessage) => {
      if (!this.heard.some(({ key }) => key === message.key)) this.heard.push(message);
    },
    plan: (_expression: string, _timezone: string, after: number): Plan => ({
      status: "next",
      at: after + 600_000,
      interval_s: 600,
    }),
    internalError: (what, thrown) =>
      void this.errors.push(`${what}: ${thrown instanceof Error ? thrown.message : String(thrown)}`),
  };

  ending(path: string): string | undefined {
    return [...this.files].find(([file]) => file.endsWith(path))?.[1];
  }
}

type More = Partial<Pick<RuntimeOptions, "options" | "background">> & {
  readonly death?: Death;
  readonly host?: Partial<HostPort>;
};

export class BackgroundWorld extends World {
  readonly outside = new Outside();

  begin(tools: readonly ToolDefinition[], { host, ...more }: More = {}): Process {
    return this.start(tools, { host: { ...this.outside.host, ...host }, ...more });
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.platform.later(ms, resolve));
  }

  /** Lets time pass until the task of a run is over. */
  async until(process: Process, task: string, isSo: (task: Task) => boolean, session = "s"): Promise<Task> {
    for (let i = 0; i < 200; i++) {
      const seen = await process.runtime.background.of(session).task(task);
      if (seen !== undefined && isSo(seen)) return seen;
      await this.quiet(8);
      this.platform.advance(500);
    }
    throw new Error(`task ${task} did not get there`);
  }

  async over(process: Process, task: string, session = "s"): Promise<Task> {
    return this.until(process, task, ({ finished_at: at }) => at !== undefined, session);
  }
}

/** Starts a run, and gives its task. */
export const spawn = async (process: Process, tool: string, session = "s"): Promise<string> => {
  const answer = await process.runtime.background.spawn(session, { tool, args: {} });
  if (answer.status === "refused") throw new Error(answer.message);
  return answer.task;
};
