/** The worker thread of one run of a body: loads its module, runs it, and says what came of it. */
import { parentPort, workerData } from "node:worker_threads";
import type { ExecutionResult, ProgressMessage, ToolContext } from "@pawl/runtime";
import { type ToolCallOutput, errorOutput, isToolResult, outputOfReturned } from "@pawl/tool-value";

type Facts = Pick<
  ToolContext,
  "scope" | "session" | "toolCallId" | "attempt" | "maxAttempts" | "replayKey" | "payload"
>;

/** The context of a body in a worker thread: facts, a signal, and progress. It has no effects. */
export interface IsolatedContext extends Facts {
  readonly signal: AbortSignal;
  readonly progress: (message: ProgressMessage) => void;
}

export interface BodyData {
  readonly module: string;
  readonly body: string;
  readonly args: unknown;
  readonly facts: Facts;
}

export type FromBody =
  | { readonly type: "output"; readonly output: ToolCallOutput }
  /** Thrown for the model to read. */
  | { readonly type: "refused"; readonly message: string }
  | { readonly type: "thrown"; readonly message: string }
  | { readonly type: "progress"; readonly message: ProgressMessage };

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const tell = (said: FromBody): void => parentPort?.postMessage(said);

const abort = new AbortController();
parentPort?.on("message", () => abort.abort());

const refusedAs = (type: string): Error =>
  new TypeError(`a body in a worker thread returns a value or throws, found the result \`${type}\``);

const resultTypes: ReadonlySet<unknown> = new Set<ExecutionResult["type"]>([
  "success",
  "success_with_images",
  "tool_error",
  "internal_error",
  "connection_required",
]);

const looksLikeResult = (returned: unknown): returned is ExecutionResult =>
  typeof returned === "object" && returned !== null && "type" in returned && resultTypes.has(returned.type);

/** Makes an output of what the body returned: results are known in this thread alone. */
const outputOf = async (returned: unknown): Promise<ToolCallOutput> => {
  if (isToolResult(returned)) {
    if (returned.type === "done") return returned.output;
    throw refusedAs("pending");
  }
  const isResult = looksLikeResult(returned) && (await import("@pawl/runtime/driver")).isExecutionResult(returned);
  if (!isResult) return outputOfReturned(returned ?? null);
  if (returned.type === "tool_error") return errorOutput(returned.message);
  if (returned.type === "success") return outputOfReturned(returned.value);
  throw refusedAs(returned.type);
};

/** Returns whether a tool threw for the model to read. The runtime is not loaded to ask for its class. */
const isForModels = (thrown: unknown): thrown is Error => thrown instanceof Error && thrown.name === "ToolError";

const textOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);

const ended = async ({ module, body, args, facts }: BodyData): Promise<FromBody> => {
  try {
    const exported = ((await import(module)) as { readonly [name: string]: unknown })[body];
    if (typeof exported !== "function") throw new TypeError(`\`${module}\` exports no function \`${body}\``);
    const progress = (message: ProgressMessage): void => tell({ type: "progress", message });
    const context: IsolatedContext = { ...facts, signal: abort.signal, progress };
    return { type: "output", output: await outputOf(await (exported(args, context) as unknown)) };
  } catch (thrown) {
    if (isForModels(thrown)) return { type: "refused", message: thrown.message };
    return { type: "thrown", message: textOf(thrown) };
  }
};

tell(await ended(workerData as BodyData));
