/** One Node process that runs tools over a journal file. */
import { randomUUID } from "node:crypto";
import { Runtime, type RuntimeOptions, type ValueCodec, sealedJournal } from "@pawl/runtime";
import { nodePlatform } from "./platform.ts";
import { rootsOf } from "./roots.ts";
import { sqliteJournal } from "./sqlite/journal.ts";

/** What a runtime is told besides its ports; a `lease` lets several processes share the file. */
export interface OpenOptions extends Pick<
  RuntimeOptions,
  "tools" | "host" | "options" | "patience" | "lease" | "linger"
> {
  /** The journal; made where there is none. */
  readonly file: string;
  /** How values are written into the journal, and read again. */
  readonly codec?: ValueCodec;
}

export interface OpenRuntime {
  readonly runtime: Runtime;
  /** Ends what runs, as if by a crash, and resolves when all that was stepped is on disk. */
  readonly close: () => Promise<void>;
}

export const openRuntime = ({ file, codec, ...told }: OpenOptions): OpenRuntime => {
  const journal = sqliteJournal(file);
  const runtime = new Runtime({
    journal: codec === undefined ? journal : sealedJournal(journal, codec),
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
