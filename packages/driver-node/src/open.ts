/** One Node process that runs tools over a journal file. */
import { randomUUID } from "node:crypto";
import { Runtime, type RuntimeOptions } from "@pawl/runtime";
import { nodePlatform } from "./platform.ts";
import { rootsOf } from "./roots.ts";
import { sqliteJournal } from "./sqlite/journal.ts";

/** What a runtime is told besides its ports; a `lease` lets several processes share the file. */
export interface OpenOptions extends Pick<
  RuntimeOptions,
  "tools" | "host" | "options" | "patience" | "lease" | "linger" | "background"
> {
  /** The journal; made where there is none. */
  readonly file: string;
}

export interface OpenRuntime {
  readonly runtime: Runtime;
  /** Ends what runs, as if by a crash, and resolves when all that was stepped is on disk. */
  readonly close: () => Promise<void>;
}

export const openRuntime = ({ file, ...told }: OpenOptions): OpenRuntime => {
  const journal = sqliteJournal(file);
  const runtime = new Runtime({
    journal,
    platform: nodePlatform,
    instance: `node:${process.pid}:${randomUUID()}`,
    roots: rootsOf(file),
    ...told,
  });
  const close = async (): Promise<void> => {
    await runtime.close();
    await journal.close();
  };
  return { runtime, close };
};
