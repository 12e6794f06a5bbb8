/**
 * The tools by which a program uses processes as values: it starts a call as a process, and awaits, signals and cancels
 * that process by its handle. Each returns a reply, as a call does.
 */
import { type EffectResult, handleValue, outputOfAwait, parseHandle, PreparedToolCall } from "@pawl/sansio-core/driver";
import {
  type Json,
  type ToolCallOutput,
  type ToolInvocationReply,
  describe,
  failureOutput,
  isToolResult,
  lift,
  read,
  replyError,
  runtimeFailure,
  successOutput,
  ToolCallOutput as OutputCodec,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../../error.ts";
import { hidden, resultOfThrown } from "../../host/outcome.ts";
import { noContract, outputOf, unavailable } from "../../host/prepare.ts";
import type { LiveTool, PrepareContext } from "../../tool/live-tool.ts";
import { type Asking, toJson, valueOf } from "./facet.ts";
import { handled } from "./durable.ts";
import type { ProcessesFacet } from "./process.ts";

type Reply = Promise<ToolInvocationReply>;

export interface HandleTools {
  readonly startToolCall: (callId: string, name: string, args: unknown) => Reply;
  readonly awaitProcess: (callId: string, handle: Json) => Reply;
  readonly signalProcess: (callId: string, handle: Json, signalName: string, payload: unknown) => Reply;
  readonly cancelProcess: (callId: string, handle: Json) => Reply;
}

/** A call that is ready to start, or that has ended before its start. */
type Preparation = { readonly call: PreparedToolCall } | { readonly output: ToolCallOutput; readonly args: Json };

const prepared = async (
  tool: LiveTool,
  args: Json,
  context: PrepareContext,
  report: (thrown: unknown) => void,
): Promise<Preparation> => {
  const ended = (output: ToolCallOutput): Preparation => ({ output, args });
  try {
    const checked = await tool.check(args);
    if (checked.verdict === "no_contract") return ended(noContract);
    if (checked.verdict === "invalid")
      return ended(failureOutput(runtimeFailure("invalid_request", "invalid_tool_args", checked.message)));
    const made = await tool.prepare(args, context);
    if (isToolResult(made)) return ended(outputOf(made));
    const { toolCallId: call_id, toolName: tool_name } = context;
    return { call: { call_id, tool_id: made.toolId, tool_name, args: made.args, prepared_payload: made.payload } };
  } catch (thrown) {
    const told = resultOfThrown(thrown);
    if (told === undefined) report(thrown);
    return ended(outputOf(told ?? hidden));
  }
};

const stepOf = (preparation: Preparation): EffectResult => ({
  status: "ok",
  value:
    "call" in preparation
      ? { call: PreparedToolCall.encode(preparation.call) as Json }
      : { output: OutputCodec.encode(preparation.output) as Json, args: preparation.args },
});

const preparationIn = (result: EffectResult): Preparation => {
  const said = valueOf(result) as { readonly call?: Json; readonly output?: Json; readonly args?: Json };
  if (said.call !== undefined) {
    const call = read(PreparedToolCall, said.call);
    if (E.isRight(call)) return { call: call.right };
    throw new EffectError("durable_effect_value", describe(call.left));
  }
  const output = read(OutputCodec, said.output);
  if (E.isRight(output)) return { output: output.right, args: said.args ?? null };
  throw new EffectError("durable_effect_value", describe(output.left));
};

/** Returns the message of an effect's error. Any other error is a fault of the program and is thrown on. */
const messageOf = (thrown: unknown): string => {
  if (thrown instanceof EffectError) return thrown.message;
  throw thrown;
};

/** Takes a call through what comes before its launch: its tool is found, hooks run, arguments are checked, it is prepared. */
const preparationOf = async ({ facts }: Asking, callId: string, name: string, args: Json): Promise<Preparation> => {
  const tool = facts.processApi.toolNamed(name);
  if (tool === undefined) return { output: unavailable, args };
  const { args: left, short } = await facts.hooked({ callId, tool: name, args });
  if (short !== undefined) return { output: short, args: left };
  return prepared(tool, left, facts.preparing(callId, name), facts.report);
};

/** Prepares a call once per record. */
const prepare = (asking: Asking, callId: string, name: string, args: Json): Promise<Preparation> => {
  const key = `start-tool-call:${callId}:prepare`;
  const perform = async (): Promise<EffectResult> => stepOf(await preparationOf(asking, callId, name, args));
  return asking.askFor(preparationIn, key, { kind: "step", recovery: "again", input: args }, [name, args], perform);
};

interface HandleCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
}

const replyTo = (
  { body }: Asking,
  { callId, tool, args }: HandleCall,
  output: ToolCallOutput,
  since = body.now,
): ToolInvocationReply => ({
  output,
  record: { call_id: callId, tool, args, output, duration_ms: Math.max(0, body.now - since) },
});

/** Does something to the process of a handle. What goes wrong is the reply. */
const actOn = async (
  asking: Asking,
  call: HandleCall,
  handle: Json,
  act: (id: string) => Promise<ToolCallOutput>,
  failed: (message: string) => string = (message) => message,
): Reply => {
  const since = asking.body.now;
  const id = parseHandle(handle);
  if (E.isLeft(id)) return replyTo(asking, call, replyError(id.left).output, since);
  try {
    return replyTo(asking, call, await act(id.right), since);
  } catch (thrown) {
    return replyTo(asking, call, replyError(failed(messageOf(thrown))).output, since);
  }
};

const startToolCall = async (
  asking: Asking,
  processes: ProcessesFacet,
  callId: string,
  name: string,
  given: unknown,
): Reply => {
  const args = toJson(given, `the arguments of \`${callId}\``);
  const preparation = await prepare(asking, callId, name, args);
  if ("output" in preparation)
    return replyTo(asking, { callId, tool: name, args: preparation.args }, preparation.output);
  const { call } = preparation;
  const id = `${asking.facts.place}/${callId}`;
  const started = { callId, tool: call.tool_name, args: call.args };
  try {
    await processes.start({
      id,
      input: { type: "tool_call", call },
      identity: { kind: "tool", label: call.tool_name },
    });
  } catch (thrown) {
    return replyTo(asking, started, replyError(messageOf(thrown)).output);
  }
  return replyTo(asking, started, successOutput(lift(handleValue(id))));
};

const signalProcess = async (
  asking: Asking,
  processes: ProcessesFacet,
  callId: string,
  handle: Json,
  signal_name: string,
  given: unknown,
): Reply => {
  const payload = toJson(given, `the payload of signal \`${signal_name}\``);
  const signalId = `process-${asking.facts.place}/${callId}`;
  const call = { callId, tool: "signal_process", args: { handle, signal_name, payload } };
  const signal = async (id: string): Promise<ToolCallOutput> => {
    const { process_id, sequence } = await processes.signal(id, signal_name, payload, signalId);
    return successOutput({ process_id, sequence });
  };
  return actOn(asking, call, handle, signal, (message) => `signal failed: ${message}`);
};

const handleCall = (callId: string, tool: string, handle: Json): HandleCall => ({ callId, tool, args: { handle } });
const cancelFailed = (message: string): string => `cancel failed: ${message}`;

export const handleTools = (asking: Asking, processes: ProcessesFacet): HandleTools => {
  const awaited = async (id: string): Promise<ToolCallOutput> => outputOfAwait(await processes.await(id));
  const cancelled = async (id: string): Promise<ToolCallOutput> => {
    const { process_id, status } = await processes.cancel(id);
    return successOutput({ process_id, status });
  };
  return {
    startToolCall: (...of) => handled(startToolCall(asking, processes, ...of)),
    awaitProcess: (callId, handle) =>
      handled(actOn(asking, handleCall(callId, "await_process", handle), handle, awaited)),
    signalProcess: (...of) => handled(signalProcess(asking, processes, ...of)),
    cancelProcess: (callId, handle) =>
      handled(actOn(asking, handleCall(callId, "cancel_process", handle), handle, cancelled, cancelFailed)),
  };
};
