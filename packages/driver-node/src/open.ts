/** One Node process that runs tools over a journal file. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type HostPort, Runtime, type ToolDefinition } from "@pawl/runtime";
import type { Options } from "@pawl/sansio-core";
import { nodePlatform } from "./platform.ts";
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

/** The root secret of wait keys stands beside the journal: every process over it can tell a true key. */
const rootOf = (file: string): Uint8Array => {
  const path = `${file}.root`;
  if (!existsSync(path)) writeFileSync(path, randomBytes(32), { mode: 0o600, flag: "wx" });
  return readFileSync(path);
};

export const openRuntime = ({ file, tools, host = {}, options = {} }: OpenOptions): OpenRuntime => {
  const journal = sqliteJournal(file);
  const secret = rootOf(file);
  const kid = createHash("sha256").update(secret).digest("hex").slice(0, 8);
  const runtime = new Runtime({
    journal,
    platform: nodePlatform,
    tools,
    instance: `node:${process.pid}:${randomUUID()}`,
    roots: { newest: { kid, secret } },
    host,
    options,
  });
  return { runtime, close: journal.close };
};
