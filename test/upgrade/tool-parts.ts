/** The parts that the tools of the corpus are made of. */
import { type Durable, EffectError, type ToolContext, type ToolDefinition, defineTool } from "@pawl/runtime";
import type { Json } from "@pawl/tool-value";
import type { Claim } from "./ledger.ts";

/** The world outside, as tools see it. */
export interface Outside {
  /** Does something outside, which takes a while. Under a key it is done once. */
  readonly effect: (name: string, of: { readonly key?: string; readonly claim: Claim }) => Promise<void>;
  /** Hands out a token, under which the outside will answer. */
  readonly hand: (as: string, token: string, ctx: ToolContext) => void;
  readonly isConnected: (as: string) => boolean;
}

/** `as` names the call in the ledger: no two calls of a town share it. */
export interface Args {
  readonly as: string;
  readonly n?: number;
  readonly ms?: number;
  readonly calls?: readonly { readonly id: string; readonly toolId: string; readonly args: Json }[];
}

export type Recovery = "again" | "idempotent" | "once";
type Execute = (args: Args, ctx: ToolContext) => unknown;

export const eventTypes = [
  {
    name: "note",
    payload_schema: { schema: {} },
    semantics: { wake: { input: "payload", dedupe_key: "event_identity" } },
  },
  { name: "signal.go", payload_schema: { schema: {} }, semantics: {} },
] as const;

export const isUnknown = (thrown: unknown): boolean =>
  thrown instanceof EffectError && thrown.code === "step_outcome_unknown";

export const tool = (name: string, execute: Execute, more: Partial<ToolDefinition> = {}): ToolDefinition =>
  defineTool({ name, durable: true, execute, ...more } as ToolDefinition<Args>);

export const process = (as: string, name: string) => ({
  type: "tool_call" as const,
  call: { call_id: "c", tool_id: `tool:${name}`, tool_name: name, args: { as }, prepared_payload: null },
});

export type Step = (ctx: ToolContext, as: string, name: string, recovery?: Recovery, claim?: Claim) => Durable<string>;

/** Makes the steps of a body: each has its effect outside, under its own name. */
export const stepsIn =
  (outside: Outside): Step =>
  (ctx: ToolContext, as: string, name: string, recovery: Recovery = "again", claim: Claim = "once") =>
    ctx.run(
      name,
      async ({ key }) => {
        const of = recovery === "once" ? ({ claim: "at_most_once" } as const) : { key, claim };
        await outside.effect(`${as}/${name}`, of);
        return name;
      },
      { input: { name }, recovery },
    );
