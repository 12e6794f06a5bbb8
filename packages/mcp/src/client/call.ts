/**
 * A call of a server's tool, from a durable body. Everything that the server is told, and says, is a step:
 *
 *   call ─▶ a result
 *     │ ──▶ a handle ──▶ poll ─▶ … ─▶ its end        the handle is on record before the first poll
 *     └───▶ questions ─▶ asked here ─▶ call, or update
 *
 * After a crash the body goes on where its record ends: it polls a task whose handle it has, and repeats a call only where
 * that is harmless. Where it is not, nobody knows what became of the call, and its result says so.
 */
import {
  type CallToolResult,
  type InputRequest,
  type Progress,
  ProtocolError,
  UnauthorizedError,
  isInputRequiredResult,
} from "@modelcontextprotocol/client";
import { type StepInfo, type ToolContext, ToolError } from "@pawl/runtime";
import { textOf } from "@pawl/runtime/driver";
import {
  type Json,
  type JsonObject,
  type ToolResult,
  type ToolValue,
  done,
  failureOutput,
  isObject,
  stableHash,
  toolFailure,
} from "@pawl/tool-value";
import { forStringify } from "../server/encoding.ts";
import { idempotencyKey } from "../server/wire.ts";
import { elicit, listRoots, sample } from "../tool/ask.ts";
import type { McpConnection } from "./connection.ts";
import { taskIn } from "./connection.ts";
import { type KeptResult, kept, textsOf, valueOf } from "./content.ts";
import type { McpServer } from "./server-spec.ts";
import { type Polled, type TaskHandle, cancelTask, pollTask, updateTask } from "./task.ts";

/** A tool of a server, as calls need it. */
export interface RemoteTool {
  readonly server: McpServer;
  readonly connection: McpConnection;
  /** The tool's name there. */
  readonly name: string;
  /** A trusted server says that the tool may be called twice. */
  readonly mayRepeat: boolean;
}

/** The answer of a server to a call. */
type Answered =
  | { readonly type: "result"; readonly result: KeptResult }
  | { readonly type: "task"; readonly task: TaskHandle }
  | { readonly type: "input"; readonly requests: JsonObject; readonly state?: string }
  | { readonly type: "refused"; readonly code: number; readonly message: string };

const tenMinutes = 600_000;

const unknownText = (tool: string): string =>
  `The connection to the server of ${tool} was lost in the middle of this call: its outcome is unknown. Look before you repeat it.`;

/** The result of a call whose outcome nobody knows. */
const unknownOutcome = (name: string): ToolResult =>
  done(failureOutput(toolFailure("external", "mcp_outcome_unknown", unknownText(name))));

const meta = (tool: RemoteTool, key: string) => ({ [idempotencyKey]: `${tool.server.name}:${key}` });

const answered = async (
  result: CallToolResult | { readonly [key: string]: unknown },
  context: ToolContext,
): Promise<Answered> => {
  if (isInputRequiredResult(result)) {
    const { inputRequests = {}, requestState: state } = result as { inputRequests?: unknown; requestState?: string };
    return { type: "input", requests: inputRequests as JsonObject, ...(state === undefined ? {} : { state }) };
  }
  const task = taskIn(result);
  if (task !== undefined) return { type: "task", task: { taskId: task.taskId, pollMs: task.pollIntervalMs ?? 1000 } };
  return { type: "result", result: await kept(result as CallToolResult, context) };
};

interface Round {
  readonly key: string;
  readonly mayRepeat: boolean;
  readonly answers?: JsonObject;
  readonly state?: string;
}

/** An answer to a call that the server has not taken: it has done nothing. */
const refusalIn = (thrown: unknown, mayRepeat: boolean): Answered | undefined => {
  if (thrown instanceof UnauthorizedError) return { type: "refused", code: 401, message: thrown.message };
  if (!(thrown instanceof ProtocolError)) return undefined;
  const { code, message, data } = thrown;
  const isBusy = isObject(data as Json) && "retryAfterMs" in (data as object);
  return isBusy && mayRepeat ? undefined : { type: "refused", code, message };
};

/** Connects before the first try, so that a server that cannot be reached is known to have done nothing. */
const reached = async ({ connection }: RemoteTool, attempt: number): Promise<Answered | undefined> => {
  try {
    await connection.client();
    return undefined;
  } catch (thrown) {
    if (attempt > 1) throw thrown;
    return { type: "refused", code: 503, message: `its server cannot be reached: ${textOf(thrown)}` };
  }
};

/** Calls the tool once. Throws where it is not known what became of the call. */
const callOnce = async (
  tool: RemoteTool,
  args: Json,
  context: ToolContext,
  round: Round,
  { signal, attempt }: Pick<StepInfo, "signal" | "attempt">,
): Promise<Answered> => {
  const unreachable = await reached(tool, attempt);
  if (unreachable !== undefined) return unreachable;
  const { answers, state, key, mayRepeat } = round;
  const params = {
    name: tool.name,
    arguments: (forStringify(args) ?? {}) as { [key: string]: unknown },
    _meta: meta(tool, key),
    ...(answers === undefined ? {} : { inputResponses: answers }),
    ...(state === undefined ? {} : { requestState: state }),
  };
  const timing = {
    signal,
    timeout: tool.server.timeoutMs ?? tenMinutes,
    resetTimeoutOnProgress: true,
    allowInputRequired: true,
    onprogress: ({ message = "", progress, total }: Progress) => {
      const counted = Number.isSafeInteger(progress) && progress >= 0 ? { done: progress } : {};
      context.progress({ message, ...counted, ...(Number.isSafeInteger(total) ? { total: total as number } : {}) });
    },
  };
  try {
    const result = await tool.connection.use((client) => client.callTool(params as never, timing));
    return await answered(result as CallToolResult, context);
  } catch (thrown) {
    const refusal = refusalIn(thrown, mayRepeat);
    if (refusal === undefined) throw thrown;
    return refusal;
  }
};

/** Answers what a server asks, by whoever answers this call's questions. */
const answersTo = async (
  requests: JsonObject,
  { roots, name }: McpServer,
  context: ToolContext,
): Promise<JsonObject> => {
  const answer = async ([key, request]: readonly [string, Json]): Promise<readonly [string, Json]> => {
    const { method, params } = request as unknown as InputRequest;
    const asked = `${name}:${key}`;
    if (method === "roots/list")
      return [
        key,
        roots === undefined ? ((await listRoots(context, asked)) ?? { roots: [] }) : ({ roots } as unknown as Json),
      ];
    if (method === "elicitation/create")
      return [key, (await elicit(context, asked, params as never)) as unknown as Json];
    const sampled = await sample(context, asked, params as never);
    if (sampled === undefined) throw new ToolError(`${name} asked for a sample of a model, and nobody let it have one`);
    return [key, sampled];
  };
  return Object.fromEntries(await Promise.all(Object.entries(requests).map(answer)));
};

const resultOf = (tool: RemoteTool, result: KeptResult): ToolValue => {
  if (result.isError) throw new ToolError(textsOf(result) || `${tool.name} failed`);
  return valueOf(result);
};

const longestPauseMs = 60_000;

/** Follows a task to its end. */
const followed = async (tool: RemoteTool, task: TaskHandle, context: ToolContext): Promise<ToolValue> => {
  context.onCancel(() => cancelTask(tool, task.taskId));
  let pauseMs = task.pollMs;
  for (let n = 1; ; n++) {
    const polled: Polled = await context.run(`poll:${n}`, ({ signal }) => pollTask(tool, task, context, signal), {
      retry: { attempts: 1000, firstDelayMs: 200, maxDelayMs: 30_000 },
    });
    if (polled.type === "ended") return resultOf(tool, polled.result);
    if (polled.type === "failed") throw new ToolError(polled.message);
    if (polled.type === "cancelled") throw new ToolError(`${tool.name} was cancelled by its server`);
    if (polled.type === "input") {
      const answers = await answersTo(polled.requests, tool.server, context);
      await context.run(`update:${n}`, ({ signal }) => updateTask(tool, task.taskId, answers, signal), {
        retry: { attempts: 1000, firstDelayMs: 200, maxDelayMs: 30_000 },
      });
      pauseMs = task.pollMs;
    } else {
      await context.sleep(pauseMs);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }
};

/** Calls a tool of a server. */
export const callRemote = async (
  tool: RemoteTool,
  args: Json,
  context: ToolContext,
): Promise<ToolResult | ToolValue> => {
  const { joinsByKey } = await context.run("server", () => tool.connection.facts(), {
    retry: { attempts: 20, firstDelayMs: 100, maxDelayMs: 30_000 },
  });
  const mayRepeat = joinsByKey || tool.mayRepeat;
  const again = { retry: { attempts: 20, firstDelayMs: 200, maxDelayMs: 30_000 } } as const;
  let round: Round = { key: `${context.replayKey}:1`, mayRepeat };
  for (let n = 1; ; n++) {
    const input = stableHash([args, round.answers ?? null]);
    const step = context.run(
      `call:${n}`,
      (info) => callOnce(tool, args, context, round, info),
      mayRepeat ? { ...again, input } : { recovery: "once", input },
    );
    const said: Answered | undefined = await step.catch(() => undefined);
    if (said === undefined) return unknownOutcome(tool.name);
    if (said.type === "result") return resultOf(tool, said.result);
    if (said.type === "task") return followed(tool, said.task, context);
    if (said.type === "refused") throw new ToolError(`${tool.name}: ${said.message} (${said.code})`);
    const answers = await answersTo(said.requests, tool.server, context);
    round = {
      key: `${context.replayKey}:${n + 1}`,
      mayRepeat,
      answers,
      ...(said.state === undefined ? {} : { state: said.state }),
    };
  }
};
