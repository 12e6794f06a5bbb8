/** The tools by which a program uses processes as values: it starts a call apart, awaits, signals and cancels it. */
import { type EffectResult, PreparedToolCall, handleValue, outputOfAwait, parseHandle } from "@pawl/sansio-core/driver";
import {
  type Json,
  type ToolCallOutput,
  ToolCallOutput as OutputCodec,
  type ToolInvocationReply,
  describe,
  failureOutput,
  isToolResult,
  lift,
  read,
  replyError,
  runtimeFailure,
  successOutput,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../../error.ts";
import type { LiveTool, PrepareContext } from "../../tool/live-tool.ts";
import { hidden, resultOfThrown } from "../../host/outcome.ts";
import { noContract, outputOf, unavailable } from "../../host/prepare.ts";
import { type Asking, toJson, valueOf } from "./asking.ts";
import type { HandleTools } from "./handle-tool.ts";
import type { ProcessesFacet } from "./process.ts";

/** Of a tool that is to be called apart: what it is called with; or how the call is over already. */
type Preparation = { readonly call: PreparedToolCall } | { readonly output: ToolCallOutput; readonly args: Json };

const prepared = async (
  tool: LiveTool,
  args: Json,
  context: PrepareContext,
  report: (thrown: unknown) => void,
): Promise<Preparation> => {
  const over = (output: ToolCallOutput): Preparation => ({ output, args });
  try {
    const checked = await tool.check(args);
    if (checked.verdict === "no_contract") return over(noContract);
    if (checked.verdict === "invalid")
      return over(failureOutput(runtimeFailure("invalid_request", "invalid_tool_args", checked.message)));
    const made = await tool.prepare(args, context);
    if (isToolResult(made)) return over(outputOf(made));
    const { toolCallId: call_id, toolName: tool_name } = context;
    return { call: { call_id, tool_id: made.toolId, tool_name, args: made.args, prepared_payload: made.payload } };
  } catch (thrown) {
    const told = resultOfThrown(thrown);
    if (told === undefined) report(thrown);
    return over(outputOf(told ?? hidden));
  }
};

const stepOf = (preparation: Preparation): EffectResult => ({
  status: "ok",
  value:
    "call" in preparation
      ? { call: PreparedToolCall.encode(preparation.call) as Json }
      : { output: OutputCodec.encode(preparation.output) as Json, args: preparation.args },
});

const preparationIn = (json: Json): Preparation => {
  const said = json as { readonly call?: Json; readonly output?: Json; readonly args?: Json };
  if (said.call !== undefined) {
    const call = read(PreparedToolCall, said.call);
    if (E.isRight(call)) return { call: call.right };
    throw new EffectError("durable_effect_value", describe(call.left));
  }
  const output = read(OutputCodec, said.output);
  if (E.isRight(output)) return { output: output.right, args: said.args ?? null };
  throw new EffectError("durable_effect_value", describe(output.left));
};

const messageOf = (thrown: unknown): string => {
  if (thrown instanceof EffectError) return thrown.message;
  throw thrown; // The program's own fault, and nobody's reply.
};

export const toolsOfHandles = (asking: Asking, processes: ProcessesFacet): HandleTools => {
  const { body, facts } = asking;

  /** As every call: its tool is there, hooks before it, its arguments fit, the tool prepares it. */
  const preparationOf = async (callId: string, name: string, args: Json): Promise<Preparation> => {
    const tool = facts.processApi.toolNamed(name);
    if (tool === undefined) return { output: unavailable, args };
    const { args: left, short } = await facts.hooked({ callId, tool: name, args });
    if (short !== undefined) return { output: short, args: left };
    return prepared(tool, left, facts.preparing(callId, name), facts.report);
  };

  const prepare = async (callId: string, name: string, args: Json): Promise<Preparation> => {
    const key = `start-tool-call:${callId}:prepare`;
    const { result } = await asking.ask(key, { kind: "step", recovery: "again", input: args }, [name, args], async () =>
      stepOf(await preparationOf(callId, name, args)),
    );
    return preparationIn(valueOf(result));
  };

  const recorded = (
    callId: string,
    tool: string,
    args: Json,
    output: ToolCallOutput,
    since = body.now,
  ): ToolInvocationReply => ({
    output,
    record: { call_id: callId, tool, args, output, duration_ms: Math.max(0, body.now - since) },
  });

  /** A tool over a handle: what it says of itself, and what it makes of its process. */
  const over = async (
    {
      callId,
      tool,
      args,
      handle,
    }: { readonly callId: string; readonly tool: string; readonly args: Json; readonly handle: Json },
    act: (id: string) => Promise<ToolCallOutput>,
    failed: (message: string) => string = (message) => message,
  ): Promise<ToolInvocationReply> => {
    const since = body.now;
    const id = parseHandle(handle);
    if (E.isLeft(id)) return recorded(callId, tool, args, replyError(id.left).output, since);
    try {
      return recorded(callId, tool, args, await act(id.right), since);
    } catch (thrown) {
      return recorded(callId, tool, args, replyError(failed(messageOf(thrown))).output, since);
    }
  };

  const startToolCall: HandleTools["startToolCall"] = async (callId, name, given) => {
    const args = toJson(given, `the arguments of \`${callId}\``);
    const preparation = await prepare(callId, name, args);
    if ("output" in preparation) return recorded(callId, name, preparation.args, preparation.output, body.now);
    const { call } = preparation;
    const id = `${facts.place}/${callId}`;
    const input = { type: "tool_call", call } as const;
    try {
      await processes.start({ id, input, identity: { kind: "tool", label: call.tool_name } });
    } catch (thrown) {
      return recorded(callId, call.tool_name, call.args, replyError(messageOf(thrown)).output, body.now);
    }
    return recorded(callId, call.tool_name, call.args, successOutput(lift(handleValue(id))), body.now);
  };

  return {
    startToolCall,
    awaitProcess: (callId, handle) =>
      over({ callId, tool: "await_process", args: { handle }, handle }, async (id) =>
        outputOfAwait(await processes.await(id)),
      ),
    signalProcess: async (callId, handle, signalName, given) => {
      const payload = toJson(given, `the payload of signal \`${signalName}\``);
      const args = { handle, signal_name: signalName, payload };
      const signalId = `process-${facts.place}/${callId}`;
      return over(
        { callId, tool: "signal_process", args, handle },
        async (id) => {
          const { process_id, sequence } = await processes.signal(id, signalName, payload, signalId);
          return successOutput({ process_id, sequence });
        },
        (message) => `signal failed: ${message}`,
      );
    },
    cancelProcess: (callId, handle) =>
      over(
        { callId, tool: "cancel_process", args: { handle }, handle },
        async (id) => {
          const { process_id, status } = await processes.cancel(id);
          return successOutput({ process_id, status });
        },
        (message) => `cancel failed: ${message}`,
      ),
  };
};
