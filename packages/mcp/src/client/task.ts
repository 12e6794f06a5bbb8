/** Tasks of a server: polled, answered and cancelled under their ids. */
import { type Client, ProtocolError } from "@modelcontextprotocol/client";
import type { ToolContext } from "@pawl/runtime";
import { type JsonObject, isObject, type Json } from "@pawl/tool-value";
import type { StandardSchemaV1 } from "@modelcontextprotocol/client";
import { type KeptResult, kept } from "./content.ts";
import type { RemoteTool } from "./call.ts";

/** A task, as the log keeps it. */
export interface TaskHandle {
  readonly taskId: string;
  readonly pollMs: number;
}

export type Polled =
  | { readonly type: "working" }
  | { readonly type: "input"; readonly requests: JsonObject }
  | { readonly type: "ended"; readonly result: KeptResult }
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "cancelled" };

/** Takes any object: what is read of it is checked where it is read. */
const anyObject: StandardSchemaV1<JsonObject> = {
  "~standard": {
    version: 1,
    vendor: "pawl",
    validate: (value) =>
      isObject(value as Json) ? { value: value as JsonObject } : { issues: [{ message: "expected an object" }] },
  },
};

const ask = (client: Client, method: string, params: JsonObject, signal?: AbortSignal): Promise<JsonObject> =>
  client.request(
    { method, params } as never,
    anyObject as never,
    signal === undefined ? {} : { signal },
  ) as Promise<JsonObject>;

const polledOf = async (task: JsonObject, context: ToolContext): Promise<Polled> => {
  switch (task["status"]) {
    case "completed":
      return { type: "ended", result: await kept(task["result"] as never, context) };
    case "failed": {
      const error = task["error"];
      return {
        type: "failed",
        message: isObject(error) && typeof error["message"] === "string" ? error["message"] : "the task has failed",
      };
    }
    case "cancelled":
      return { type: "cancelled" };
    case "input_required":
      return { type: "input", requests: isObject(task["inputRequests"]) ? task["inputRequests"] : {} };
    default:
      return { type: "working" };
  }
};

/** Time for which one step goes on asking. */
const heldMs = 20_000;

/** Asks for a task until it is other than working, or for a while. A server that does not know it has lost it. */
export const pollTask = async (
  tool: RemoteTool,
  { taskId, pollMs }: TaskHandle,
  context: ToolContext,
  signal: AbortSignal,
): Promise<Polled> => {
  const until = Date.now() + heldMs;
  for (;;) {
    try {
      const polled = await polledOf(
        await tool.connection.use((client) => ask(client, "tasks/get", { taskId }, signal)),
        context,
      );
      if (polled.type !== "working" || Date.now() + pollMs > until) return polled;
    } catch (thrown) {
      if (thrown instanceof ProtocolError && thrown.code === -32_602)
        return {
          type: "failed",
          message: `the server of ${tool.name} does not know its task any more: its outcome is unknown`,
        };
      throw thrown;
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    signal.throwIfAborted();
  }
};

/** Answers questions of a task. */
export const updateTask = async (
  tool: RemoteTool,
  taskId: string,
  inputResponses: JsonObject,
  signal: AbortSignal,
): Promise<void> => {
  await tool.connection.use((client) => ask(client, "tasks/update", { taskId, inputResponses }, signal));
};

/** Tells a task to stop. */
export const cancelTask = async (tool: RemoteTool, taskId: string): Promise<void> => {
  await tool.connection.use((client) => ask(client, "tasks/cancel", { taskId }));
};
