/** One Node process that runs tools over a journal file. */
import { randomUUID } from "node:crypto";
import { type HostPort, Runtime, type ToolDefinition } from "@pawl/runtime";
import type { Options } from "@pawl/sansio-core";
import { nodePlatform } from "./platform.ts";
import { rootsOf } from "./roots.ts";
import { sqliteJournal } from "./sqlite/journal.ts";

export interface OpenOptions {
  /** The journal; made where there is none. */
  readonly file: string;
  readonly tools: readonly ToolDefinition[];
  readonly host?: HostPort;
  readonly options?: Partial<Options>;
}

export interface OpenRuntime {
  readonly runtime: Runtime;
  readonly close: () => Promise<void>;
}

export const openRuntime = ({ file, tools, host = {}, options = {} }: OpenOptions): OpenRuntime => {
  const journal = sqliteJournal(file);
  const runtime = new Runtime({
    journal,
    platform: nodePlatform,
    tools,
    instance: `node:${process.pid}:${randomUUID()}`,
    roots: rootsOf(file),
    host,
    options,
  });
  return { runtime, close: journal.close };
};
