/** The ops that need a tool's context: run through a runtime in memory, as a tool would. */
import type { Reply } from "@pawl/sansio-core";
import { type Json, type JsonObject, ToolCallOutput, ToolCallRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import {
  type Refused,
  EffectError,
  type HostPort,
  type Standing,
  type ToolContext,
  type ToolDefinition,
  defineTool,
  misfitOfCompletion,
  misfitOfDurable,
  misfitOfProcessEvent,
} from "../../src/index.ts";
import { World } from "../world.ts";

type Input = JsonObject;
type Answer = E.Either<{ readonly code?: string; readonly message: string }, unknown>;

const answerOf = (misfit: EffectError | undefined): Answer =>
  misfit === undefined ? E.right({ ok: true }) : E.left({ code: misfit.code, message: misfit.message });

const standingOf = (input: Input): Standing => ({
  callId: input["call_id"] === null ? undefined : ((input["call_id"] as string | undefined) ?? "c1"),
  isDurable: input["controller"] !== "no-durable",
  process: input["process"] === null ? undefined : ((input["process"] as string | undefined) ?? "p1"),
});

/** What one body saw: its value, or the error that it met. What it waits for is resolved so. */
const inBody = async (body: (ctx: ToolContext) => Promise<unknown>, resolution?: Json): Promise<Answer> => {
  const outcome: { answer?: Answer } = {};
  const tool = defineTool({
    name: "t",
    durable: true,
    execute: async (_, ctx) => {
      try {
        outcome.answer = E.right(await body(ctx));
      } catch (thrown) {
        const { code, message } = thrown as EffectError;
        outcome.answer = E.left({ code, message });
      }
    },
  });
  const world = new World();
  const session = await world.start([tool]).runtime.session("s");
  const replies = session.call("r", [{ id: "c1", tool: "t", args: {} }]);
  await world.quiet();
  const [wait] = session.state.waits.rows();
  if (wait !== undefined)
    await session.report({ type: "wait.resolved", key: wait.key, resolution: resolution as never });
  await replies;
  return outcome.answer ?? E.left({ message: "the body did not end" });
};

const runSteps = async (input: Input): Promise<Answer> => {
  let runs = 0;
  const {
    step_ids: steps,
    input: given = null,
    returns = null,
    throws,
  } = input as {
    readonly step_ids: readonly string[];
    readonly input?: Json;
    readonly returns?: Json;
    readonly throws?: { readonly code: string; readonly message: string };
  };
  const answer = await inBody(async (ctx) => {
    let value: Json = null;
    for (const step of steps) {
      value = await ctx.runJson(step, given, () => {
        runs += 1;
        if (throws !== undefined) throw new EffectError(throws.code, throws.message);
        return returns;
      });
    }
    return value;
  });
  return E.bimap(
    (error: { readonly message: string }) => ({ ...error, runs }),
    (value: unknown) => ({ value, runs }),
  )(answer);
};

const awaitEvent = async (input: Input): Promise<Answer> => {
  const answer = await inBody((ctx) => ctx.awaitEventJson("k"), input["resolution"]);
  return E.map((value: unknown) => ({ value }))(answer);
};

const externalKey = (input: Input): Promise<Answer> =>
  inBody(async (ctx) => {
    const key = input["key"] as string;
    return { equal: ctx.externalEventKey(key) === ctx.externalEventKey(key), wait: { type: "custom", key } };
  });

interface BatchInput {
  readonly calls: readonly { readonly id: string; readonly tool_id: string; readonly args?: Json }[];
  readonly catalog?: readonly (JsonObject | string)[];
}

/** A tool of the case's catalog: it returns what the case says, or its arguments. */
const toolOf = (entry: JsonObject | string): ToolDefinition => {
  const {
    tool_id,
    id = tool_id,
    name,
    returns,
    result = returns,
  } = typeof entry === "string" ? ({ id: entry } as JsonObject) : entry;
  const toolId = String(id);
  const toolName = typeof name === "string" ? name : toolId.replace(/^tool:/, "");
  return defineTool({
    id: toolId,
    name: toolName,
    durable: true,
    execute: (args) => (result === undefined ? args : result),
  });
};

const recordOf = ({ call_id, tool, args, output, duration_ms }: Reply): unknown =>
  ToolCallRecord.encode({ call_id, tool, args, output, duration_ms });

const callBatch = async (input: Input): Promise<Answer> => {
  const { calls, catalog = [] } = input as unknown as BatchInput;
  if (calls.length === 0) return E.right({ replies: [], effects: 0, events: [], turn_events: [] });
  const events: Json[] = [];
  const observe: HostPort["observe"] = (_, { what, call_id, tool, args }) => {
    const type = what === "call_started" ? "tool_call_started" : "tool_call_completed";
    events.push({ type, correlation_id: `tool:${call_id}`, call_id, name: tool, args });
  };
  const session = await new World().start(catalog.map(toolOf), { host: { observe } }).runtime.session("s");
  const requested = calls.map(({ id, tool_id, args = {} }) => ({ id, tool: tool_id, by_id: true, args }));
  const replies = await session
    .call("r", requested)
    .catch((thrown: Refused) => E.left({ code: thrown.code, message: thrown.message }));
  if (!Array.isArray(replies)) return replies as Answer;
  const known = new Set(
    catalog.map((entry) => String(typeof entry === "string" ? entry : (entry["id"] ?? entry["tool_id"]))),
  );
  return E.right({
    replies: (replies as readonly Reply[]).map((reply) => ({
      output: ToolCallOutput.encode(reply.output),
      record: recordOf(reply),
    })),
    // One batch effect, where there is a call to carry out.
    effects: calls.some(({ tool_id }) => known.has(tool_id)) ? 1 : 0,
    events,
    turn_events: events,
  });
};

export const contextAdapters = {
  completion_key: (input: Input) => answerOf(misfitOfCompletion(standingOf(input))),
  "durable_effects.open": (input: Input) => answerOf(misfitOfDurable(standingOf(input))),
  emit_process_event: (input: Input) =>
    answerOf(misfitOfProcessEvent(standingOf(input), input["event_type"] as string)),
  run_json: runSteps,
  await_event_json: awaitEvent,
  external_event_key: externalKey,
  call_tool_batch: callBatch,
};
