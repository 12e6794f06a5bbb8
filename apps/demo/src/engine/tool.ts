/** The tools of each scene, and their descriptions for the agent. */
import { type ToolDefinition, type ToolContext, defineTool } from "@pawl/runtime";
import type { StepRecovery } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { type Script, month, trip } from "../agent/script.ts";
import type { ToolSpec } from "../agent/model.ts";
import type { World } from "./world.ts";

/** The scenes in which the page is the agent's host. */
export type AgentSceneId = "kill" | "ask";
export type SceneId = AgentSceneId | "turn";

export interface Kit {
  readonly tools: readonly ToolDefinition[];
  readonly specs: readonly ToolSpec[];
  readonly script: Script;
}

/** The outside world, and the name of the worker that acts on it. */
export interface Actor {
  readonly world: World;
  readonly worker: string;
}

interface StepOptions {
  readonly name: string;
  readonly ms: number;
  readonly recovery?: StepRecovery;
}

const step = (
  { world, worker }: Actor,
  ctx: ToolContext,
  { name, ms, recovery = "again" }: StepOptions,
): Promise<unknown> => ctx.run(name, ({ key }) => world.happen(name, key, worker, ms), { recovery });

const isUnknown = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && thrown.code === "step_outcome_unknown";

const parameters = (properties: { readonly [name: string]: Json }): Json => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});

const text = { type: "string" };
const count = { type: "integer" };

const specOf = (name: string, description: string, properties: { readonly [name: string]: Json }): ToolSpec => ({
  name,
  description,
  parameters: parameters(properties),
});

const tripSpecs = [
  specOf("book_train", "Books seats on a train", { to: text, seats: count }),
  specOf("book_rooms", "Books rooms in a hotel", { city: text, nights: count }),
  specOf("send_invitations", "Sends invitations, at most once", { to: { type: "array", items: text } }),
];

/** Defines a tool whose steps run one after the other. */
const inOrder = (name: string, steps: readonly StepOptions[], actor: Actor, result: Json): ToolDefinition =>
  defineTool({
    name,
    durable: true,
    execute: async (_, ctx) => {
      for (const one of steps) await step(actor, ctx, one);
      return result;
    },
  });

const tripTools = (actor: Actor): readonly ToolDefinition[] => [
  inOrder(
    "book_train",
    [
      { name: "find a train", ms: 1500 },
      { name: "reserve seats", ms: 2100 },
      { name: "pay the fare", ms: 2400 },
    ],
    actor,
    { train: "IC 705", seats: "4A 4B 4C" },
  ),
  inOrder(
    "book_rooms",
    [
      { name: "compare hotels", ms: 2300 },
      { name: "hold two rooms", ms: 1900 },
      { name: "confirm", ms: 1700 },
    ],
    actor,
    { hotel: "Under the Black Eagle", rooms: 2 },
  ),
  defineTool({
    name: "send_invitations",
    durable: true,
    execute: async (_, ctx) => {
      await step(actor, ctx, { name: "write the text", ms: 1900 });
      try {
        await step(actor, ctx, { name: "send the mails", ms: 3200, recovery: "once" });
        return { sent: "yes" };
      } catch (thrown) {
        if (!isUnknown(thrown)) throw thrown;
        return { sent: "unknown", because: "the worker died during this step, which runs at most once" };
      }
    },
  }),
];

const monthSpecs = [
  specOf("pay", "Pays an invoice", { to: text, amount: { type: "number", exclusiveMinimum: 0 } }),
  specOf("post", "Posts to a channel", { channel: text, text }),
  specOf("delete_drafts", "Deletes old drafts", { older_than_days: count }),
];

/** Defines tools that need approval. */
const monthTools = (actor: Actor): readonly ToolDefinition[] =>
  monthSpecs.map(({ name, parameters: schema }) =>
    defineTool({
      name,
      durable: true,
      needsApproval: true,
      inputSchema: schema as { readonly type: "object" },
      execute: async (args: unknown, ctx) => {
        await step(actor, ctx, { name, ms: 900 });
        return { done: args };
      },
    }),
  );

export const kitOf = (scene: AgentSceneId, actor: Actor): Kit => {
  if (scene === "ask") return { tools: monthTools(actor), specs: monthSpecs, script: month };
  return { tools: tripTools(actor), specs: tripSpecs, script: trip };
};
