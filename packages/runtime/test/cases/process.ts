/** Events that a body emits in its process: what it is told of them, and their keys as the log of the process has them. */
import { type ProcessInput, ProcessEvent } from "@pawl/sansio-core/driver";
import { caseProtocol, withFields } from "@pawl/testkit";
import * as v from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type ToolContext, type ToolDefinition, defineTool } from "../../src/index.ts";
import { problemOfProcessEvent } from "../../src/body/facet/capability.ts";
import { type Program, eventType, live, program } from "../process/world.ts";
import type { World } from "../world.ts";
import { type Answer, answerOf, refusal, standingFields, standingOf } from "./standing.ts";

interface Emits {
  readonly call_id: string;
  /** In which attempt of the call; those before it fail. */
  readonly attempt: number;
  readonly emits: readonly v.Json[];
}
const Emits = v.record<Emits>("emits", {
  call_id: v.string,
  attempt: v.defaulted(v.u64, 1, () => false),
  emits: v.array(v.json),
});

const typesIn = ({ emits }: Emits): readonly string[] => emits.map(v.render);

const failed = v.done(v.failureOutput(v.safeRetryFailure("execution", "failed", "failed")));

const emitting = (emits: Emits): ToolDefinition =>
  defineTool({
    name: "emits",
    durable: true,
    retry: { attempts: emits.attempt, firstDelayMs: 0, maxDelayMs: 0 },
    execute: async (_, ctx: ToolContext) => {
      if (ctx.attempt < emits.attempt) return failed;
      for (const type of typesIn(emits)) await ctx.emitProcessEvent(type, null).catch(() => undefined);
      return null;
    },
  });

const isForeign = /^process\.|undeclared|^\s*$/;

/** Declares what a case emits, but for what every process has, what the case calls undeclared, and what has no name. */
const declaredOf = (types: readonly string[]): readonly string[] =>
  [...new Set(types)].filter((type) => !isForeign.test(type));

/** A body that runs the tool `emits` as a process, under this call id. */
const inProcess = (callId: string, types: readonly string[], id = "p"): ToolDefinition =>
  program("body", async ({ processes }) => {
    const call = { call_id: callId, tool_id: "tool:emits", tool_name: "emits", args: {}, prepared_payload: null };
    const input: ProcessInput = { type: "tool_call", call };
    await processes.start({ id, input, eventTypes: declaredOf(types).map((type) => eventType(type)) });
    return processes.await(id);
  });

const keysIn = async ({ journal }: World): Promise<readonly unknown[]> =>
  (await journal.read("process:p", 1)).flatMap(({ line }) => {
    const { event } = JSON.parse(line) as { readonly event: v.JsonObject };
    const effect = (event["effect"] ?? {}) as v.JsonObject;
    return event["type"] === "effect.requested" && effect["kind"] === "event" ? [effect["replay_key"]] : [];
  });

const lived = (tools: readonly ToolDefinition[]): ReturnType<typeof live> =>
  live(tools, undefined, {}, {}, caseProtocol());

const emittedKeys = async (emits: Emits): Promise<unknown> => {
  const { world } = await lived([inProcess(emits.call_id, typesIn(emits)), emitting(emits)]);
  return { replay_keys: await keysIn(world) };
};

/** One event of a body that stands where the case says; where no body can stand, the refusal that it would get. */
const emittedEvent = async (input: v.JsonObject): Promise<Answer> => {
  const { callId, process, ...standing } = standingOf(input);
  const type = input["event_type"] as string;
  if (callId === undefined) return refusal(problemOfProcessEvent({ callId, process, ...standing }, type));
  const outcome: { answer?: Answer } = {};
  const emit: Program = async (ctx) => {
    outcome.answer = await answerOf(async () => {
      const event = await ctx.emitProcessEvent(type, input["payload"] ?? null);
      const replay_key = event.invocation.replay?.key ?? null;
      return { ok: true, ...(ProcessEvent.encode(event) as object), replay_key };
    });
    return null;
  };
  await lived(
    process === undefined ? [program("body", emit)] : [inProcess(callId, [type], process), program("emits", emit)],
  );
  return outcome.answer ?? E.left({ message: "the body did not run" });
};

const keysOf = async (input: v.JsonObject): Promise<E.Either<v.ValueError, unknown>> => {
  const emits = v.read(Emits, input);
  return E.isLeft(emits) ? emits : E.right(await emittedKeys(emits.right));
};

export const processAdapters = {
  emit_process_event: withFields([...standingFields, "event_type", "payload"], emittedEvent),
  "emit_process_event.keys": withFields(["call_id", "attempt", "emits"], keysOf),
};
