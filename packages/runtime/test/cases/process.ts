/** Events that a body emits in its process: their keys, as the log of the process has them. */
import type { ProcessInput } from "@pawl/sansio-core";
import * as v from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type ToolContext, type ToolDefinition, defineTool } from "../../src/index.ts";
import { eventType, live, program } from "../process/world.ts";
import type { World } from "../world.ts";

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
    retry_policy: { type: "safe", max_attempts: emits.attempt, base_delay_ms: 0, max_delay_ms: 0 },
    execute: async (_, ctx: ToolContext) => {
      if (ctx.attempt < emits.attempt) return failed;
      for (const type of typesIn(emits)) await ctx.emitProcessEvent(type, null).catch(() => undefined);
      return null;
    },
  });

const inProcess = (callId: string, types: readonly string[]): ToolDefinition =>
  program("body", async ({ processes }) => {
    const call = { call_id: callId, tool_id: "tool:emits", tool_name: "emits", args: {}, prepared_payload: null };
    const input: ProcessInput = { type: "tool_call", call };
    await processes.start({ id: "p", input, event_types: types.map((type) => eventType(type)) });
    return processes.await("p");
  });

const keysIn = async ({ journal }: World): Promise<readonly unknown[]> =>
  (await journal.read("process:p", 1)).flatMap(({ line }) => {
    const { event } = JSON.parse(line) as { readonly event: v.JsonObject };
    const effect = (event["effect"] ?? {}) as v.JsonObject;
    return event["type"] === "effect.requested" && effect["kind"] === "event" ? [effect["replay_key"]] : [];
  });

/** What a case emits is declared, but for what it calls undeclared. */
const emittedKeys = async (emits: Emits): Promise<unknown> => {
  const types = [...new Set(typesIn(emits))].filter((type) => !type.includes("undeclared"));
  const { world } = await live([inProcess(emits.call_id, types), emitting(emits)]);
  return { replay_keys: await keysIn(world) };
};

export const processAdapters = {
  "emit_process_event.keys": async (input: v.JsonObject): Promise<E.Either<v.ValueError, unknown>> => {
    const emits = v.read(Emits, input);
    return E.isLeft(emits) ? emits : E.right(await emittedKeys(emits.right));
  },
};
