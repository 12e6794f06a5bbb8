/** The ops that need a tool's context: run through a runtime in memory, as a tool would. */
import { callRef } from "@pawl/sansio-core";
import { type AwaitEventWaitIdentity, awaitKeyId } from "@pawl/sansio-core/driver";
import { caseProtocol, withFields } from "@pawl/testkit";
import { type Json, type JsonObject, ToolCallOutput, ToolCallRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import {
  type HostPort,
  type Reply,
  type ToolContext,
  type ToolDefinition,
  defineTool,
  EffectError,
} from "../../src/index.ts";
import { problemOfCompletion, problemOfDurable } from "../../src/body/facet/capability.ts";
import { World } from "../world.ts";
import { type Answer, answerOf, refusal, standingFields, standingOf } from "./standing.ts";

type Input = JsonObject;

/** What stands around a body; what it waits for is resolved so. */
interface Surroundings {
  readonly callId?: string;
  readonly resolution?: Json;
  readonly tools?: readonly ToolDefinition[];
  readonly host?: HostPort;
}

/** Returns what one body saw: its value, or the error that it met. */
const inBody = async (
  body: (ctx: ToolContext) => Promise<unknown>,
  { callId = "c1", resolution, tools = [], host = {} }: Surroundings = {},
): Promise<Answer> => {
  const outcome: { answer?: Answer } = {};
  const tool = defineTool({
    name: "the body of the case",
    durable: true,
    execute: async (_, ctx) => {
      outcome.answer = await answerOf(() => body(ctx));
    },
  });
  const world = new World(caseProtocol());
  const session = await world.start([tool, ...tools], { host }).runtime.session("s");
  const replies = session.request("r", [{ label: callId, tool: tool.name, args: {} }]);
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
    for (const [place, step] of steps.entries()) {
      const asked = ctx.run(
        step,
        () => {
          runs += 1;
          if (throws !== undefined) throw new EffectError(throws.code, throws.message);
          return returns;
        },
        { input: given },
      );
      // Who asks for a failed step again has caught its failure.
      value = steps.includes(step, place + 1) ? await asked.catch(() => null) : await asked;
    }
    return value;
  });
  return E.bimap(
    (error: { readonly message: string }) => ({ ...error, runs }),
    (value: unknown) => ({ value, runs }),
  )(answer);
};

const awaitEvent = async (input: Input): Promise<Answer> => {
  const answer = await inBody((ctx) => ctx.waitFor("k"), { resolution: input["resolution"] ?? null });
  return E.map((value: unknown) => ({ value }))(answer);
};

/** The wait whose key a token carries, if it is this one in the scope of the body's request. */
const waitIn = (token: string, wait: AwaitEventWaitIdentity): AwaitEventWaitIdentity | null => {
  const key = awaitKeyId({ type: "runtime_operation", operation_id: "session:s/r" }, wait);
  return E.isRight(key) && token.split(".")[2] === key.right.key_id ? wait : null;
};

const externalKey = (input: Input): Promise<Answer> =>
  inBody(async (ctx) => {
    const key = input["key"] as string;
    const token = ctx.token(key);
    return { equal: token === ctx.token(key), wait: waitIn(token, { type: "custom", key }) };
  });

const completionKey = async (input: Input): Promise<Answer> => {
  const standing = standingOf(input);
  const misfit = problemOfCompletion(standing);
  if (misfit !== undefined) return refusal(misfit);
  const { callId = "" } = standing;
  const wait = { type: "tool_completion", tool_call_id: callId } as const;
  const key = awaitKeyId({ type: "runtime_operation", operation_id: "session:s/r" }, wait);
  if (E.isLeft(key)) return key;
  return inBody(
    async (ctx) => {
      const token = ctx.completionKey();
      return { equal: token === ctx.completionKey(), wait: waitIn(token, wait) };
    },
    { callId },
  );
};

interface BatchInput {
  readonly calls: readonly { readonly id: string; readonly tool_id: string; readonly args?: Json }[];
  readonly catalog?: readonly (JsonObject | string)[];
}

/** A tool of the case's catalog, with what the case says of it: it returns what the case wants, or its arguments. */
const toolOf = (entry: JsonObject | string, launched: () => void): ToolDefinition => {
  const {
    tool_id,
    id = tool_id,
    name,
    returns,
    result = returns,
    availability,
    input_schema: parameters,
    ...manifest
  } = typeof entry === "string" ? ({ id: entry } as JsonObject) : entry;
  const toolId = String(id);
  const base = typeof availability === "object" ? (availability as JsonObject | null)?.["base"] : availability;
  return defineTool({
    manifest: manifest as NonNullable<ToolDefinition["manifest"]>,
    ...((base === undefined ? {} : { availability: base }) as Partial<ToolDefinition>),
    ...((parameters === undefined ? {} : { inputSchema: parameters }) as Partial<ToolDefinition>),
    id: toolId,
    name: typeof name === "string" ? name : toolId.replace(/^tool:/, ""),
    durable: true,
    execute: (args) => {
      launched();
      return result === undefined ? args : result;
    },
  });
};

const recordOf = ({ label: call_id, tool, args, output, durationMs: duration_ms }: Reply): unknown =>
  ToolCallRecord.encode({ call_id, tool, args, output, duration_ms });

/** Calls that a body makes together. Of what is observed the calls of the batch are told, not the body's own. */
const callBatch = async (input: Input): Promise<Answer> => {
  const { calls, catalog = [] } = input as unknown as BatchInput;
  const events: Json[] = [];
  const observe: HostPort["observe"] = (_, { what, call, call_id, tool, args }) => {
    if (call === callRef("r", "c1")) return;
    const type = what === "call_started" ? "tool_call_started" : "tool_call_completed";
    events.push({ type, correlation_id: `tool:${call_id}`, call_id, name: tool, args });
  };
  let launches = 0;
  const tools = catalog.map((entry) => toolOf(entry, () => (launches += 1)));
  const answer = await inBody(
    (ctx) =>
      ctx.callAll(
        calls.map(({ id, tool_id, args = {} }) => ({ label: id, tool: { name: tool_id, id: tool_id }, args })),
      ),
    { tools, host: { observe } },
  );
  return E.map((replies: unknown) => ({
    replies: (replies as readonly Reply[]).map((reply) => ({
      output: ToolCallOutput.encode(reply.output),
      record: recordOf(reply),
    })),
    // One batch effect, where there was a call to carry out.
    effects: Math.min(launches, 1),
    events,
    turn_events: events,
  }))(answer);
};

export const contextAdapters = {
  // `twice`: a key is asked for twice in any case.
  completion_key: withFields([...standingFields, "twice"], completionKey),
  "durable_effects.open": withFields(standingFields, (input: Input) => refusal(problemOfDurable(standingOf(input)))),
  run_json: withFields(["step_ids", "input", "returns", "throws"], runSteps),
  await_event_json: withFields(["resolution"], awaitEvent),
  external_event_key: withFields(["key", "twice"], externalKey),
  call_tool_batch: withFields(["calls", "catalog"], callBatch),
};
