/** The engine for forks: it continues the session in a separate runtime, in memory, with the given tools. */
import { type HostPort, Runtime, type ToolDefinition, memoryJournal } from "@pawl/runtime";
import { type Platform, unpackBlobs } from "@pawl/runtime/driver";
import { newestProtocol } from "@pawl/sansio-core/driver";
import type { ForkedLog } from "../worker/message.ts";
import { sessionSource } from "./source.ts";
import type { Source } from "./source.ts";

/** Continues a fork until the signal aborts. */
export type Engine = (fork: ForkedLog, signal: AbortSignal) => Promise<Source>;

export interface EngineOptions {
  readonly tools: readonly ToolDefinition[];
  readonly platform: Platform;
  /** Its models and agents, for logs with turns. */
  readonly host?: HostPort;
}

const root = { kid: "fork", secret: new Uint8Array(32) };

/** Makes the engine that runs forks on, over a journal in memory. */
export const engineOf =
  ({ tools, platform, host = {} }: EngineOptions): Engine =>
  async ({ scope, epoch, protocol, wakeAt, lines, blobs }, signal) => {
    const journal = memoryJournal();
    await unpackBlobs(journal.blobs, scope, blobs, platform.hashText);
    await journal.claim(scope, "inspector", newestProtocol, epoch);
    const [result] = await journal.appendAll([
      {
        scope,
        epoch: epoch + 1,
        expectedSeq: 1,
        appendId: "fork",
        lines: lines.map(({ seq, line }) => ({ seq, line })),
        finished: lines.flatMap(({ seq, finished }) => finished.map((one) => ({ seq, ...one }))),
        wakeAt,
        protocol,
        messages: [],
        received: [],
      },
    ]);
    if (result?.type !== "ok") throw new Error(`the fork could not be stored: ${result?.type}`);
    const runtime = new Runtime({ journal, platform, tools, host, instance: "fork", roots: { newest: root } });
    signal.addEventListener("abort", () => void runtime.close(), { once: true });
    const session = await runtime.session(scope.replace(/^session:/, ""));
    const names = new Set(tools.map(({ name }) => name));
    const unfinished = session.state.calls.rows().filter(({ phase }) => phase !== "completed");
    const lacks = new Set(unfinished.map(({ tool }) => tool).filter((name) => !names.has(name)));
    return { ...sessionSource(session, signal), lacks: [...lacks] };
  };
